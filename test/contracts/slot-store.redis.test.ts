import type { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SlotStore } from "../../src/gate/index.js";
import {
  createDeliveryStore,
  createEvidenceJournal,
  createRedisSlotStore,
  createUnsettledStore,
} from "../../src/store/index.js";
import { testPrefix, testRedis } from "../fixtures/redis.js";
import { chat, slotEvents } from "../fixtures/slot-events.js";
import { slotStoreContract } from "./slot-store.js";

slotStoreContract("redis", async () => {
  const prefix = testPrefix();
  const opened: Redis[] = [testRedis()];
  const [redis] = opened as [Redis];
  return {
    open() {
      const own = testRedis();
      opened.push(own);
      return createRedisSlotStore({ redis: own, prefix });
    },
    evidence: createEvidenceJournal({ redis, prefix }),
    unsettled: createUnsettledStore({ redis, prefix }),
    sent: (chat, part) => sentLast(redis, prefix, chat, part),
    async close() {
      for (const each of opened) each.disconnect();
    },
  };
});

describe("slot store on redis", () => {
  const session = "telegram:bot:7:7";
  let redis: Redis;
  let prefix: string;
  let store: SlotStore;
  beforeEach(() => {
    redis = testRedis();
    prefix = testPrefix();
    store = createRedisSlotStore({ redis, prefix });
  });
  afterEach(() => redis.disconnect());

  it("adds two round trips to an ordinary message, and one to what changes nothing", async () => {
    const { message } = slotEvents("p-1");
    await store.apply(session, message("hola", "t-1"), chat);
    const commands = await commandsOf(redis, async () => {
      await store.apply(session, message("¿cuánto debo?", "t-2", 2), chat);
    });
    expect(commands).toEqual(["mget", "evalsha"]);
    const retried = await commandsOf(redis, async () => {
      await store.apply(session, message("¿cuánto debo?", "t-2", 2), chat);
    });
    expect(retried).toEqual(["mget"]);
  });

  it("recognises its own write when the connection broke and the request was sent twice", async () => {
    const { proposal, part, shown, message, consume } = slotEvents("p-1");
    for (const event of shown) await store.apply(session, event);
    await sentLast(redis, prefix, chat, part);
    await store.apply(session, message("si", "t-2"), chat);
    const twice = new Proxy(redis, {
      get(target, name) {
        if (name !== "evalsha") return Reflect.get(target, name).bind(target);
        return async (...args: Parameters<Redis["evalsha"]>) => {
          await target.evalsha(...args);
          return await target.evalsha(...args);
        };
      },
    });
    const outcome = await createRedisSlotStore({ redis: twice, prefix }).apply(session, consume("t-2"));
    expect(outcome).toMatchObject({ kind: "run", proposal });
    const consumed = (await createEvidenceJournal({ redis, prefix }).list({ session })).filter(
      (entry) => entry.type === "consumed",
    );
    expect(consumed).toHaveLength(1);
  });

  it("keeps a slot longer than its proposal lives, and for eight days", async () => {
    const { proposal } = slotEvents("p-1");
    const days = 24 * 3_600_000;
    await store.apply(session, {
      type: "propose",
      proposal: { ...proposal, expiresAt: proposal.proposedAt + 30 * days },
    });
    const [key = ""] = await redis.keys(`${prefix.replace(/[{}]/g, "?")}:slot:*`);
    expect(await redis.pttl(key)).toBeGreaterThan(37 * days);
  });

  it("lets nothing run while Redis is away", async () => {
    const { part, shown, message, consume } = slotEvents("p-1");
    for (const event of shown) await store.apply(session, event);
    await sentLast(redis, prefix, chat, part);
    await store.apply(session, message("si", "t-2"), chat);
    redis.disconnect();
    await expect(store.apply(session, consume("t-2"))).rejects.toMatchObject({
      code: "store_unavailable",
      retryable: true,
    });
  });

  it("refuses a slot of a version that it does not know", async () => {
    await redis.set(`${prefix}:slot:${session}`, '7.x {"version":2,"current":{"state":"empty"}}');
    await expect(store.read(session)).rejects.toMatchObject({ code: "store_version" });
    await redis.set(`${prefix}:slot:${session}`, "nonsense");
    await expect(store.read(session)).rejects.toMatchObject({ code: "store_version" });
  });

  it("grants as often as there are proposals when a thousand people say yes twice at once", async () => {
    const other = testRedis();
    const workers = [store, createRedisSlotStore({ redis: other, prefix })];
    const sessions = Array.from({ length: 1_000 }, (_, n) => `telegram:bot:${n}:${n}`);
    const { part, shown, message, consume } = slotEvents("p-1");
    await Promise.all(
      sessions.map(async (each) => {
        for (const event of shown) await store.apply(each, event);
      }),
    );
    await sentLast(redis, prefix, chat, part);
    const outcomes = await Promise.all(
      sessions.flatMap((each) =>
        workers.map(async (worker, n) => {
          const turn = `t-${2 + n}`;
          const decided = await worker.apply(each, message("si", turn, n + 1), chat);
          const consumed = await worker.apply(each, consume(turn, n + 1));
          return { decided: decided.kind, consumed: consumed.kind };
        }),
      ),
    );
    expect(outcomes.filter(({ decided }) => decided === "granted")).toHaveLength(1_000);
    expect(outcomes.filter(({ consumed }) => consumed === "run").length).toBeLessThanOrEqual(1_000);
    const journal = createEvidenceJournal({ redis, prefix });
    for (const each of sessions.slice(0, 50)) {
      const types = (await journal.list({ session: each })).map((entry) => entry.type);
      expect(types.filter((type) => type === "granted")).toHaveLength(1);
      expect(types.filter((type) => type === "consumed").length).toBeLessThanOrEqual(1);
    }
    other.disconnect();
  });
});

/** Names of the commands that a connection was asked for meanwhile. */
async function commandsOf(redis: Redis, work: () => Promise<void>): Promise<string[]> {
  const names: string[] = [];
  const send = redis.sendCommand;
  redis.sendCommand = function (this: Redis, ...args: Parameters<Redis["sendCommand"]>) {
    names.push(args[0].name);
    return send.apply(this, args);
  } as Redis["sendCommand"];
  await work();
  redis.sendCommand = send;
  return names;
}

/** What the delivery store writes when a part is handed to the platform. */
async function sentLast(redis: Redis, prefix: string, chat: string, part: string): Promise<void> {
  const [channel = "", account = "", id = ""] = chat.split(":");
  await createDeliveryStore({ redis, prefix }).apply(part, {
    type: "sending",
    part: {
      version: 1,
      id: part,
      session: `${chat}:7`,
      address: { channel: channel as "telegram", account, chat: id, sender: "7" },
      group: false,
      turn: "t-1",
      index: 1,
      of: 1,
      text: "…",
      createdAt: 11_000,
    },
    ref: `ref-${part}`,
    at: 11_000,
  });
}
