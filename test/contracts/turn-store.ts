import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ModelMessage } from "../../src/agents/models/index.js";
import type { ConversationMemory, TurnRecord, TurnStore } from "../../src/turns/index.js";

export interface TurnStoreRig {
  /** The store in one more process. */
  open(): Promise<TurnStore>;
  readonly memory: ConversationMemory;
  close(): Promise<void>;
}

const session = "telegram:bot:7:7";

export function turnRecord(id: string, more: Partial<TurnRecord> = {}): TurnRecord {
  return {
    version: 1,
    id,
    session,
    agent: "cobranzas",
    origin: "person",
    desdeHumano: true,
    query: "¿cuánto debo?",
    decision: "none",
    outcome: "answered",
    answer: `answer of ${id}`,
    calls: [],
    propuestas: [],
    receivedAt: 1_000,
    startedAt: 1_100,
    finishedAt: 2_000,
    parts: [],
    ...more,
  };
}

export function remembered(text: string, maxTurns = 3) {
  const messages: readonly ModelMessage[] = [
    { role: "user", content: text },
    { role: "assistant", content: `you said ${text}` },
  ];
  return { messages, maxTurns, ttlSeconds: 3_600 };
}

/** What a TurnStore and the ConversationMemory that it fills keep. */
export function turnStoreContract(title: string, create: () => Promise<TurnStoreRig>): void {
  describe(`turn store: ${title}`, () => {
    let rig: TurnStoreRig;
    let store: TurnStore;

    beforeEach(async () => {
      rig = await create();
      store = await rig.open();
    });
    afterEach(() => rig.close());

    const recall = async (agent = "cobranzas", maxTurns = 3, of = session) =>
      (await rig.memory.load(of, agent, maxTurns)).map((message) => message.content);

    it("keeps a committed turn, for every process", async () => {
      const record = turnRecord("t-1", { pending: "p-1", calls: [] });
      expect(await store.read("t-1")).toBeUndefined();
      expect(await store.commit(record, undefined, 1)).toBe("committed");
      expect(await (await rig.open()).read("t-1")).toEqual(record);
    });

    it("commits a turn once: the first record stands, and nothing is remembered twice", async () => {
      expect(await store.commit(turnRecord("t-1"), remembered("a"), 1)).toBe("committed");
      expect(await store.commit(turnRecord("t-1", { answer: "other" }), remembered("b"), 2)).toBe("already");
      expect(await store.read("t-1")).toMatchObject({ answer: "answer of t-1" });
      expect(await recall()).toEqual(["a", "you said a"]);
      expect(await store.recent({ session, limit: 10 })).toHaveLength(1);
    });

    it("commits one of many runs that finish at once, with its memory", async () => {
      const stores = await Promise.all(Array.from({ length: 8 }, () => rig.open()));
      const results = await Promise.all(
        stores.map((each, n) => each.commit(turnRecord("t-1", { answer: `run ${n}` }), remembered(`run ${n}`), 1)),
      );
      expect(results.filter((result) => result === "committed")).toHaveLength(1);
      const winner = `run ${results.indexOf("committed")}`;
      expect(await store.read("t-1")).toMatchObject({ answer: winner });
      expect(await recall()).toEqual([winner, `you said ${winner}`]);
    });

    it("refuses a run once a later run has taken the turn over", async () => {
      expect(await store.read("t-1", 5)).toBeUndefined();
      expect(await (await rig.open()).read("t-1", 7)).toBeUndefined();
      expect(await store.read("t-1", 6)).toBeUndefined();
      expect(await store.commit(turnRecord("t-1"), remembered("zombie"), 5)).toBe("fenced");
      expect(await store.commit(turnRecord("t-1"), remembered("zombie"), 6)).toBe("fenced");
      expect(await store.read("t-1")).toBeUndefined();
      expect(await recall()).toEqual([]);
      expect(await store.commit(turnRecord("t-1"), remembered("later"), 7)).toBe("committed");
      expect(await store.read("t-1", 3)).toMatchObject({ id: "t-1" });
      expect(await store.commit(turnRecord("t-2"), undefined, 1)).toBe("committed");
    });

    it("takes the largest fence of all for what settles a dead turn", async () => {
      await store.read("t-1", 7);
      expect(await store.commit(turnRecord("t-1"), undefined, Number.MAX_SAFE_INTEGER)).toBe("committed");
    });

    it("remembers the last turns of a conversation, whole, oldest first", async () => {
      for (const text of ["a", "b", "c", "d"]) await store.commit(turnRecord(`t-${text}`), remembered(text), 1);
      expect(await recall()).toEqual(["b", "you said b", "c", "you said c", "d", "you said d"]);
      expect(await recall("cobranzas", 1)).toEqual(["d", "you said d"]);
      expect(await recall("cobranzas", 0)).toEqual([]);
    });

    it("remembers each agent's and each session's conversation apart", async () => {
      await store.commit(turnRecord("t-1"), remembered("a"), 1);
      await store.commit(turnRecord("t-2", { agent: "ventas" }), remembered("b"), 1);
      await store.commit(turnRecord("t-3", { session: "telegram:bot:7:8" }), remembered("c"), 1);
      expect(await recall("cobranzas")).toEqual(["a", "you said a"]);
      expect(await recall("ventas")).toEqual(["b", "you said b"]);
      expect(await recall("cobranzas", 3, "telegram:bot:7:8")).toEqual(["c", "you said c"]);
    });

    it("remembers nothing of a turn that failed or of an agent without memory", async () => {
      await store.commit(turnRecord("t-1", { outcome: "failed", error: "model_failed" }), undefined, 1);
      await store.commit(turnRecord("t-2"), remembered("a", 0), 1);
      expect(await recall()).toEqual([]);
    });

    it("remembers calls and their results, and no bytes of images", async () => {
      const messages: readonly ModelMessage[] = [
        { role: "user", content: "mirá", images: [{ mime: "image/png", data: new Uint8Array([1, 2, 3]) }] },
        { role: "assistant", content: "", calls: [{ id: "c-1", tool: "praxis_buscar", argumentsText: '{"a":1.0}' }] },
        { role: "tool", callId: "c-1", tool: "praxis_buscar", content: "[]" },
      ];
      await store.commit(turnRecord("t-1"), { messages, maxTurns: 3, ttlSeconds: 60 }, 1);
      expect(await rig.memory.load(session, "cobranzas", 3)).toEqual([
        { role: "user", content: "mirá" },
        ...messages.slice(1),
      ]);
    });

    it("lists turns newest first, of all sessions or of one", async () => {
      const other = "telegram:bot:8:8";
      await store.commit(turnRecord("t-1", { finishedAt: 2_000 }), undefined, 1);
      await store.commit(turnRecord("t-2", { finishedAt: 3_000, session: other }), undefined, 1);
      await store.commit(turnRecord("t-3", { finishedAt: 4_000 }), undefined, 1);
      const ids = async (query: Parameters<TurnStore["recent"]>[0]) =>
        (await store.recent(query)).map((turn) => turn.id);
      expect(await ids({ limit: 10 })).toEqual(["t-3", "t-2", "t-1"]);
      expect(await ids({ limit: 2 })).toEqual(["t-3", "t-2"]);
      expect(await ids({ session, limit: 10 })).toEqual(["t-3", "t-1"]);
      expect(await ids({ session, limit: 1 })).toEqual(["t-3"]);
      expect(await ids({ session: "telegram:bot:9:9", limit: 10 })).toEqual([]);
      expect(await ids({ limit: 0 })).toEqual([]);
    });

    it("lists sessions by their last activity, newest first", async () => {
      const at = Date.UTC(2026, 5, 1);
      const other = "telegram:bot:8:8";
      await store.commit(turnRecord("t-1", { finishedAt: at }), undefined, 1);
      await store.commit(turnRecord("t-2", { finishedAt: at + 1, session: other }), undefined, 1);
      expect(await store.sessions(10)).toEqual([
        { session: other, lastAt: at + 1 },
        { session, lastAt: at },
      ]);
      await store.commit(turnRecord("t-3", { finishedAt: at + 2 }), undefined, 1);
      expect(await store.sessions(1)).toEqual([{ session, lastAt: at + 2 }]);
    });

    it("forgets sessions in which nothing happened for more than a week", async () => {
      const at = Date.UTC(2026, 5, 1);
      await store.commit(turnRecord("t-1", { finishedAt: at }), undefined, 1);
      const later = { finishedAt: at + 9 * 24 * 3_600_000, session: "telegram:bot:8:8" };
      await store.commit(turnRecord("t-2", later), undefined, 1);
      expect((await store.sessions(10)).map((each) => each.session)).toEqual(["telegram:bot:8:8"]);
    });

    it("calls a session by one opaque id in every process, and finds it again", async () => {
      const id = store.opaque(session);
      expect(id).toMatch(/^ses_[\w-]{16}$/);
      expect((await rig.open()).opaque(session)).toBe(id);
      expect(store.opaque("telegram:bot:7:8")).not.toBe(id);
      await store.commit(turnRecord("t-1"), undefined, 1);
      expect(await (await rig.open()).resolve(id)).toBe(session);
      expect(await store.resolve("ses_AAAAAAAAAAAAAAAA")).toBeUndefined();
    });

    it("finds a session that was only ever named in a log", async () => {
      const id = store.opaque(session);
      const other = await rig.open();
      await vi.waitFor(async () => expect(await other.resolve(id)).toBe(session));
    });
  });
}
