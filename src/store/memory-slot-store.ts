import { randomUUID } from "node:crypto";
import { type EvidenceEntry, type EvidenceReader, selectEvidence } from "../evidence/index.js";
import { emptySlot, type SlotStore } from "../gate/index.js";
import type { UnsettledExecution, UnsettledStore } from "../turns/index.js";
import { createSlotLoop, type SeenSlot } from "./slot-cell.js";
import { verdictEvidence } from "./verdict.js";

export interface MemorySlotStoreOptions {
  /** Ids of evidence entries. Default random. */
  readonly newId?: () => string;
}

export interface MemorySlotStore extends SlotStore {
  readonly evidence: EvidenceReader;
  readonly unsettled: UnsettledStore;
  /** What a delivery store does when a part is handed to the platform: it becomes the last one sent to its chat. */
  sent(chat: string, part: string): void;
}

/** Slots of a single process; nothing survives it. For apps that use the gate by itself, and for tests. */
export function createMemorySlotStore(options: MemorySlotStoreOptions = {}): MemorySlotStore {
  const newId = options.newId ?? randomUUID;
  const slots = new Map<string, SeenSlot>();
  const lastSent = new Map<string, string>();
  const evidence: EvidenceEntry[] = [];
  const unsettled = new Map<string, UnsettledExecution>();
  let revisions = 0;

  const loop = createSlotLoop({
    newId,
    cell: {
      async read(session, chat) {
        const seen = slots.get(session) ?? { revision: "0", slot: emptySlot };
        const last = chat === undefined ? undefined : lastSent.get(chat);
        return { ...seen, surroundings: last === undefined ? {} : { lastSent: last } };
      },
      async swap(session, revision, change) {
        if ((slots.get(session)?.revision ?? "0") !== revision) return false;
        slots.set(session, { revision: String(++revisions), slot: change.slot });
        evidence.push(...change.evidence);
        for (const execution of change.unsettled) unsettled.set(execution.proposal, execution);
        for (const proposal of change.settled) unsettled.delete(proposal);
        return true;
      },
    },
  });

  return {
    ...loop,
    evidence: {
      async list(query) {
        return selectEvidence(evidence, query);
      },
    },
    unsettled: {
      async list(limit) {
        return [...unsettled.values()].toSorted((one, other) => one.since - other.since).slice(0, limit);
      },
      async settle(proposal, verdict) {
        const execution = unsettled.get(proposal);
        if (!execution || !unsettled.delete(proposal)) return false;
        evidence.push(verdictEvidence(execution, verdict, newId()));
        return true;
      },
    },
    sent: (chat, part) => void lastSent.set(chat, part),
  };
}
