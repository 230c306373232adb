import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EvidenceReader } from "../../src/evidence/index.js";
import { emptySlot, type SlotEvent, type SlotStore } from "../../src/gate/index.js";
import type { UnsettledStore } from "../../src/turns/index.js";
import { chat, slotEvents } from "../fixtures/slot-events.js";

export interface SlotStoreRig {
  /** The store in one more process (the same object where there is but one). */
  open(): SlotStore;
  readonly evidence: EvidenceReader;
  readonly unsettled: UnsettledStore;
  /** The outbound part becomes the last one that was sent to the chat. */
  sent(chat: string, part: string): Promise<void>;
  close(): Promise<void>;
}

const session = "telegram:bot:7:7";

/** What a SlotStore keeps, with its evidence and its list of unsettled executions. */
export function slotStoreContract(title: string, create: () => Promise<SlotStoreRig>): void {
  describe(`slot store: ${title}`, () => {
    let rig: SlotStoreRig;
    let store: SlotStore;

    beforeEach(async () => {
      rig = await create();
      store = rig.open();
    });
    afterEach(() => rig.close());

    const apply = async (events: readonly SlotEvent[], to = session) => {
      for (const event of events) await store.apply(to, event);
    };
    /** Proposes, and shows the notice: the last thing that was sent to the chat. */
    const show = async ({ shown, part }: ReturnType<typeof slotEvents>, to = session) => {
      await apply(shown, to);
      await rig.sent(chat, part);
    };
    const types = async (proposal: string) => (await rig.evidence.list({ proposal })).map((entry) => entry.type);

    it("begins empty", async () => {
      expect(await store.read(session)).toEqual(emptySlot);
    });

    it("answers what the gate decides, and any process reads what it came to", async () => {
      const events = slotEvents("p-1");
      const { proposal, message } = events;
      await show(events);
      expect(await rig.open().read(session)).toMatchObject({ current: { state: "pending", proposal } });
      expect(await store.apply(session, message("si", "t-2"), chat)).toEqual({ kind: "granted", proposal });
      expect(await rig.open().read(session)).toMatchObject({ current: { state: "granted", proposal } });
    });

    it("keeps sessions apart", async () => {
      const events = slotEvents("p-1");
      const { message } = events;
      await show(events);
      expect(await store.apply("telegram:bot:7:8", message("si", "t-2"), chat)).toEqual({ kind: "none" });
      expect(await store.read(session)).toMatchObject({ current: { state: "pending" } });
    });

    it("judges a message by what was last sent to its chat", async () => {
      const events = slotEvents("p-1");
      const { part, message } = events;
      await show(events);
      await rig.sent(chat, "out-t-9-1");
      expect(await store.apply(session, message("si", "t-2"), chat)).toMatchObject({
        kind: "unseen",
        reason: "buried",
      });
      await rig.sent(chat, part);
      await rig.sent("telegram:bot:8", "out-t-9-2");
      expect(await store.apply(session, message("si", "t-3", 2), chat)).toMatchObject({ kind: "granted" });
    });

    it("writes the evidence of each step with it, in order", async () => {
      const events = slotEvents("p-1");
      const { message, consume, settle } = events;
      await show(events);
      await store.apply(session, message("si", "t-2"), chat);
      await apply([consume("t-2"), settle("t-2")]);
      expect(await types("p-1")).toEqual([
        "proposed",
        "notice_sent",
        "notice_delivered",
        "granted",
        "consumed",
        "executed",
      ]);
      const entries = await rig.evidence.list({ session });
      expect(new Set(entries.map((entry) => entry.id)).size).toBe(entries.length);
      expect(entries[3]).toMatchObject({
        at: 21_000,
        type: "granted",
        session,
        proposal: "p-1",
        agent: "cobranzas",
        tool: "praxis_crear_record",
        argsHash: "f".repeat(64),
        turn: "t-2",
        detail: { words: "si", message: "m-t-2" },
      });
    });

    it("finds evidence by session, by proposal and by both, the newest if there is a limit", async () => {
      const other = "telegram:bot:8:8";
      await show(slotEvents("p-2"), other);
      await show(slotEvents("p-1"));
      await store.apply(session, slotEvents("p-1").message("no", "t-2"), chat);
      await apply([{ type: "propose", proposal: { ...slotEvents("p-3").proposal, turn: "t-2" } }]);
      const proposals = async (query: Parameters<EvidenceReader["list"]>[0]) =>
        (await rig.evidence.list(query)).map((entry) => `${entry.proposal} ${entry.type}`);
      expect(await proposals({ session })).toEqual([
        "p-1 proposed",
        "p-1 notice_sent",
        "p-1 notice_delivered",
        "p-1 discarded",
        "p-3 proposed",
      ]);
      expect(await proposals({ session, limit: 2 })).toEqual(["p-1 discarded", "p-3 proposed"]);
      expect(await proposals({ proposal: "p-2" })).toEqual(["p-2 proposed", "p-2 notice_sent", "p-2 notice_delivered"]);
      expect(await proposals({ proposal: "p-1", limit: 1 })).toEqual(["p-1 discarded"]);
      expect(await proposals({ session, proposal: "p-2" })).toEqual([]);
      expect(await proposals({ proposal: "p-404" })).toEqual([]);
      expect(await proposals({})).toHaveLength(8);
    });

    it("writes nothing when nothing changed", async () => {
      await show(slotEvents("p-1"));
      const before = await rig.evidence.list({ session });
      await store.apply(session, slotEvents("p-2").shown[0] as SlotEvent);
      expect(await rig.evidence.list({ session })).toEqual(before);
    });

    it("grants a yes that two workers take up at once only once, and lets one of them run it", async () => {
      const events = slotEvents("p-1");
      const { message, consume } = events;
      await show(events);
      const workers = [rig.open(), rig.open()];
      const decided = await Promise.all(
        workers.map((worker, n) => worker.apply(session, message("si", "t-2", n + 1), chat)),
      );
      expect(decided.some((outcome) => outcome.kind === "granted")).toBe(true);
      const consumed = await Promise.all(
        workers.flatMap((worker, n) => [
          worker.apply(session, consume("t-2", n + 1)),
          worker.apply(session, consume("t-2", n + 1)),
        ]),
      );
      expect(consumed.filter((outcome) => outcome.kind === "run")).toHaveLength(1);
      expect((await types("p-1")).filter((type) => type === "granted" || type === "consumed")).toEqual([
        "granted",
        "consumed",
      ]);
    });

    it("grants a double yes once: the second finds nothing to confirm", async () => {
      const events = slotEvents("p-1");
      const { message } = events;
      await show(events);
      const outcomes = await Promise.all([
        rig.open().apply(session, message("si", "t-2", 1), chat),
        rig.open().apply(session, message("si", "t-3", 2), chat),
      ]);
      expect(outcomes.map((outcome) => outcome.kind).sort()).toEqual(["granted", "none"]);
    });

    it("loses no event when many processes change one slot at once", async () => {
      const { proposal, shown } = slotEvents("p-1");
      await apply(shown.slice(0, 1));
      const parts = Array.from({ length: 24 }, (_, n) => `out-t-1-${n}`);
      await Promise.all(
        parts.map((part) =>
          rig.open().apply(session, { type: "noticeSending", proposal: proposal.id, part, at: 11_000 }),
        ),
      );
      const { current } = await store.read(session);
      expect(current.state === "pending" ? current.showings.map((showing) => showing.part).sort() : []).toEqual(
        parts.toSorted(),
      );
    });

    describe("unsettled executions", () => {
      async function begun(id = "p-1") {
        const events = slotEvents(id);
        await show(events);
        await store.apply(session, events.message("si", "t-2"), chat);
        await apply([events.consume("t-2")]);
        return events;
      }

      it("are listed once nobody can see their end any more, with what an operator needs", async () => {
        const { proposal, message } = await begun();
        expect(await rig.unsettled.list(10)).toEqual([]);
        await store.apply(session, message("hola", "t-3", 2), chat);
        expect(await rig.unsettled.list(10)).toEqual([
          {
            proposal: "p-1",
            session,
            agent: proposal.agent,
            tool: proposal.tool,
            argsHash: proposal.fingerprint,
            notice: proposal.notice,
            since: 22_000,
          },
        ]);
      });

      it("are listed when the run itself cannot tell how the call ended", async () => {
        const { settle, proposal } = await begun();
        await apply([settle("t-2", "unknown")]);
        expect(await rig.unsettled.list(10)).toMatchObject([{ proposal: "p-1", notice: proposal.notice }]);
      });

      it("leave the list when the run comes back late and says how it ended", async () => {
        const { message, settle } = await begun();
        await store.apply(session, message("hola", "t-3", 2), chat);
        expect(await store.apply(session, settle("t-2"))).toEqual({ kind: "late" });
        expect(await rig.unsettled.list(10)).toEqual([]);
        expect((await types("p-1")).slice(-2)).toEqual(["unknown", "executed"]);
      });

      it("are settled by an operator once, on record", async () => {
        const { message } = await begun();
        await store.apply(session, message("hola", "t-3", 2), chat);
        const verdict = { result: "not_executed", comment: "not in the ERP", by: "ana", at: 90_000 } as const;
        const settled = await Promise.all([
          rig.unsettled.settle("p-1", verdict),
          rig.unsettled.settle("p-1", { ...verdict, result: "executed" }),
        ]);
        expect(settled.filter(Boolean)).toHaveLength(1);
        expect(await rig.unsettled.settle("p-404", verdict)).toBe(false);
        expect(await rig.unsettled.list(10)).toEqual([]);
        const last = (await rig.evidence.list({ proposal: "p-1" })).at(-1);
        expect(last).toMatchObject({
          type: settled[0] ? "failed" : "executed",
          at: 90_000,
          session,
          detail: { by: "ana", comment: "not in the ERP" },
        });
      });

      it("are listed oldest first, and no more than asked for", async () => {
        const first = await begun();
        await store.apply(session, first.message("hola", "t-3", 2), chat);
        const other = "telegram:bot:8:8";
        const second = slotEvents("p-2");
        await show(second, other);
        await store.apply(other, second.message("si", "t-2"), chat);
        await apply([{ ...second.consume("t-2"), at: 21_500 }], other);
        await store.apply(other, second.message("hola", "t-3", 2), chat);
        expect((await rig.unsettled.list(10)).map((each) => each.proposal)).toEqual(["p-2", "p-1"]);
        expect((await rig.unsettled.list(1)).map((each) => each.proposal)).toEqual(["p-2"]);
      });
    });
  });
}
