import { createMemorySlotStore } from "../../src/store/index.js";
import { slotStoreContract } from "./slot-store.js";

slotStoreContract("memory", async () => {
  const store = createMemorySlotStore();
  return {
    open: () => store,
    evidence: store.evidence,
    unsettled: store.unsettled,
    sent: async (chat, part) => store.sent(chat, part),
    close: async () => {},
  };
});
