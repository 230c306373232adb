import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import type { RunRequest, RunResult } from "../../../src/agents/runtime/index.js";
import type { InboundMessage } from "../../../src/channels/index.js";
import { DaleError } from "../../../src/errors/index.js";
import { defaultWords } from "../../../src/gate/index.js";
import type { OutboundPart } from "../../../src/outbound/index.js";
import type { RunningJob } from "../../../src/queue/index.js";
import {
  createConversationMemory,
  createRedisSlotStore,
  createTurnStore,
  type Shard,
} from "../../../src/store/index.js";
import {
  createGateDesk,
  createTurnWorker,
  type TurnRequest,
  type TurnStore,
  type TurnWorker,
  turnOf,
} from "../../../src/turns/index.js";
import { silentLogger } from "../../fixtures/logger.js";
import { testPrefix, testRedis } from "../../fixtures/redis.js";

const redis = testRedis();
let shard: Shard;
let worker: TurnWorker;
let turns: TurnStore;
let sent: OutboundPart[];
let failing: { enqueue: number };
let run: (request: RunRequest) => Promise<Partial<RunResult>>;

beforeEach(async () => {
  shard = { redis, prefix: testPrefix() };
  turns = await createTurnStore(shard);
  sent = [];
  failing = { enqueue: 0 };
  run = async ({ query }) => ({ answer: `echo ${query}` });
  const slots = createRedisSlotStore(shard);
  const style = { locale: "es-AR", words: defaultWords("es-AR"), formattingMarks: "", maxLength: 400 } as const;
  worker = createTurnWorker({
    turns,
    memory: createConversationMemory(shard),
    desk: createGateDesk({ slots, ttlMs: 600_000, receiptWaitMs: 0, newId: randomUUID, now: Date.now }),
    agentOf: (name) =>
      name === "gone"
        ? undefined
        : {
            locale: "es-AR",
            resume: "runtime",
            memory: { maxTurns: 10, ttlSeconds: 60 },
            proposalsWebhook: false,
            seesImages: false,
          },
    channelOf: () => ({
      maxTextLength: 400,
      sentAtResolution: 1000,
      rule: () => ({ words: defaultWords("es-AR"), tolerate: [], level: "accepted", showAgainLimit: 3 }),
      noticeStyle: () => style,
    }),
    run: async (_, request) => ({
      answer: "",
      propuestas: [],
      calls: [],
      messages: [
        { role: "user", content: request.query },
        { role: "assistant", content: "…" },
      ],
      ...(await run(request)),
    }),
    runWorkflow: async () => {
      throw new Error("no workflow here");
    },
    enqueue: async (part) => {
      if (failing.enqueue-- > 0) throw new DaleError("store_unavailable", "away");
      if (!sent.some(({ id }) => id === part.id)) sent.push(part);
    },
    deliverPropuestas: async () => {},
    approvals: {
      request: async () => {},
      begin: async () => ({ kind: "none" }),
      settle: async () => {},
      abandon: async () => ({ kind: "none" }),
    },
    perform: async () => {
      throw new Error("no approvals here");
    },
    announce: async () => {},
    connectionsOf: async () => ({}),
    forgetConnections: async () => {},
    locale: "es-AR",
    perception: { perceive: async ({ text }) => ({ query: text, images: [] }) },
    presence: { taken() {}, typing: () => ({ stop() {} }) },
    logger: silentLogger,
    now: Date.now,
  });
});

let messages = 0;
function job(
  text: string,
  changes: Partial<RunningJob<TurnRequest>> & { agent?: string } = {},
): RunningJob<TurnRequest> {
  const message: InboundMessage = {
    channel: "telegram",
    account: "bot",
    chat: "1",
    sender: "2",
    id: `${++messages}`,
    group: false,
    text,
    provenance: "typed",
    sentAt: Date.now(),
    receivedAt: Date.now(),
    attachments: [],
  };
  const { agent = "cobranzas", ...more } = changes;
  return {
    id: turnOf(message),
    key: "telegram:bot:1:2",
    data: { version: 1, kind: "message", agent, message },
    attempt: 1,
    lastAttempt: false,
    fence: 1,
    signal: new AbortController().signal,
    ...more,
  };
}

describe("a turn", () => {
  it("is answered once, whatever becomes of its runs", async () => {
    let runs = 0;
    run = async () => ({ answer: `answer ${++runs}` });
    const first = job("hello");
    await worker.process(first);
    await worker.process({ ...first, attempt: 2, fence: 2 });
    expect(runs).toBe(1);
    expect(sent.map(({ text }) => text)).toEqual(["answer 1"]);
  });

  it("sends what was committed when the process died between commit and dispatch", async () => {
    failing.enqueue = 1;
    const first = job("hello");
    await expect(worker.process(first)).rejects.toMatchObject({ code: "store_unavailable" });
    expect(sent).toEqual([]);
    run = async () => {
      throw new Error("the model is not asked again");
    };
    await worker.process({ ...first, attempt: 2, fence: 2 });
    expect(sent.map(({ text }) => text)).toEqual(["echo hello"]);
  });

  it("is not committed by a run that a later one has overtaken", async () => {
    const first = job("hello");
    run = async () => {
      run = async () => ({ answer: "of the later run" });
      await worker.process({ ...first, attempt: 2, fence: 2 });
      return { answer: "of the zombie" };
    };
    await worker.process(first).catch(() => undefined);
    expect(sent.map(({ text }) => text)).toEqual(["of the later run"]);
    expect((await turns.read(first.id))?.answer).toBe("of the later run");
  });

  it("remembers the turns that were answered, and no failed one", async () => {
    const seen: number[] = [];
    run = async ({ history, query }) => {
      seen.push(history.length);
      if (query === "fail") throw new DaleError("turn_timeout", "too long");
      return { answer: "ok" };
    };
    await worker.process(job("one"));
    await worker.process(job("fail"));
    await worker.process(job("three"));
    expect(seen).toEqual([0, 2, 2]);
  });

  it("fails, to be tried again, while trying again may help", async () => {
    run = async () => {
      throw new DaleError("model_failed", "500");
    };
    await expect(worker.process(job("hello"))).rejects.toMatchObject({ code: "model_failed" });
    expect(sent).toEqual([]);
  });

  it.each([
    ["a failure that no retry helps", async () => worker.process(job("hello", { agent: "gone" }))],
    ["attempts that are used up", async () => worker.dead(job("hello"), "model_failed")],
  ])("ends %s with one honest sentence, that an operator sees", async (_, end) => {
    await end();
    expect(sent.map(({ text }) => text)).toEqual(["No pude procesar tu mensaje. No se ejecutó nada."]);
    expect(await turns.recent({ limit: 1 })).toMatchObject([{ outcome: "failed" }]);
  });

  it("tells of an execution that it cannot tell the end of", async () => {
    const plan = {
      tool: "praxis_crear_record",
      fingerprint: "f".repeat(64),
      canonical: "{}",
      args: {},
      agent: "cobranzas",
    };
    run = async ({ gate }) => {
      await gate.propose(plan);
      return { answer: "It waits." };
    };
    await worker.process(job("open a plan"));
    const part = sent.at(-1);
    expect(part?.notice?.from).toBe(part?.text.indexOf("Para confirmar"));
    const slots = createRedisSlotStore(shard);
    const { id: partId = "", notice } = part ?? {};
    const proposal = notice?.proposal ?? "";
    const shown = { proposal, part: partId, at: Date.now() - 5000 };
    await slots.apply("telegram:bot:1:2", { type: "noticeSending", ...shown });
    await slots.apply("telegram:bot:1:2", { type: "noticeSent", ...shown, ref: "77" });
    await slots.apply("telegram:bot:1:2", { type: "noticeDelivered", ...shown, level: "accepted" });
    await redis.set(`${shard.prefix}:tail:telegram:bot:1`, partId);
    run = async ({ gate }) => {
      await gate.consume(plan.tool, plan.fingerprint);
      throw new DaleError("turn_timeout", "died in the middle");
    };
    await worker.process(job("dale"));
    expect(sent.at(-1)?.text).toContain("No sé si praxis_crear_record llegó a ejecutarse");
    expect((await slots.read("telegram:bot:1:2")).current.state).toBe("empty");
  });
});
