import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { faults } from "../../fakes/telegram-bot-api/index.js";
import { impatientTiming, until } from "../../fixtures/telegram.js";
import { createTelegramRig, type TelegramProcess, type TelegramRig } from "../../fixtures/telegram-rig.js";

describe("Telegram by polling", () => {
  let rig: TelegramRig;
  beforeEach(async () => {
    rig = await createTelegramRig();
  });
  afterEach(() => rig.close());

  const open = async (one: TelegramProcess = rig.process()): Promise<TelegramProcess> => {
    await one.adapter.start();
    await until(() => one.adapter.status().state === "open", one.adapter.status);
    return one;
  };
  const texts = (one: TelegramProcess) => one.host.received.map((message) => message.text);
  const polls = () => rig.bot.calls.filter((call) => call.method === "getUpdates");

  describe("acknowledges", () => {
    it("an update only with the poll after its enqueue", async () => {
      const ana = rig.bot.person();
      let release = () => {};
      let entered = false;
      const gate = new Promise<void>((resolve) => {
        release = resolve;
      });
      const beforeReceive = () => {
        entered = true;
        return gate;
      };
      const one = await open(rig.process({}, { beforeReceive }));
      rig.bot.message(ana.chat, { from: ana.user, text: "hola" });
      await until(() => entered);
      const before = polls().length;
      await sleep(60);
      expect(polls()).toHaveLength(before);
      expect(rig.bot.pending()).toHaveLength(1);
      release();
      await until(() => rig.bot.pending().length === 0);
      expect(texts(one)).toEqual(["hola"]);
    });

    it("nothing while the store is away, and goes on where it was", async () => {
      const ana = rig.bot.person();
      const one = await open();
      one.host.storeAway(true);
      for (const text of ["uno", "dos", "tres"]) rig.bot.message(ana.chat, { from: ana.user, text });
      await until(() => one.host.refused > 3);
      expect(rig.bot.pending()).toHaveLength(3);
      expect(one.adapter.status()).toMatchObject({ state: "reconnecting", reason: expect.stringContaining("store") });
      one.host.storeAway(false);
      await until(() => rig.bot.pending().length === 0);
      expect(texts(one)).toEqual(["uno", "dos", "tres"]);
      expect(one.host.duplicates).toBe(0);
      expect(one.adapter.status().state).toBe("open");
    });

    it("what was taken of a batch and no more, when the store goes away in the middle of it", async () => {
      const ana = rig.bot.person();
      for (let n = 0; n < 250; n++) rig.bot.message(ana.chat, { from: ana.user, text: `${n}` });
      const first = rig.process(
        {},
        { beforeReceive: async (message) => first.host.storeAway(Number(message.text) >= 130) },
      );
      await first.adapter.start();
      await until(() => first.host.refused > 0);
      await first.adapter.stop();
      expect(texts(first)).toHaveLength(130);

      const second = await open();
      await until(() => rig.bot.pending().length === 0);
      const taken = new Set([...texts(first), ...texts(second)]);
      expect([...taken]).toHaveLength(250);
      expect(texts(second)).toEqual([...texts(second)].sort((a, b) => Number(a) - Number(b)));
      expect(Number(texts(second)[0])).toBeLessThanOrEqual(130);
    });

    it("nothing that a killed process had fetched and not enqueued", async () => {
      const ana = rig.bot.person();
      let fetched = false;
      const beforeReceive = () => {
        fetched = true;
        return new Promise<void>(() => {});
      };
      const killed = rig.process({ timing: impatientTiming }, { beforeReceive });
      await killed.adapter.start();
      for (const text of ["uno", "dos"]) rig.bot.message(ana.chat, { from: ana.user, text });
      await until(() => fetched);
      rig.store.breakLease();
      const next = await open();
      await until(() => rig.bot.pending().length === 0);
      expect(texts(next)).toEqual(["uno", "dos"]);
    });

    it("an update that it cannot read, so that it does not stand in the way", async () => {
      const ana = rig.bot.person();
      const one = await open();
      rig.bot.update({ message: { message_id: "seven", chat: ana.chat } });
      rig.bot.message(ana.chat, { from: ana.user, text: "hola" });
      await until(() => texts(one).length === 1);
      expect(one.host.counts).toEqual(["malformed_update"]);
      expect(one.host.logs.some((line) => line.level === "error")).toBe(true);
    });

    it("updates whose numbers begin again from a smaller one", async () => {
      const ana = rig.bot.person();
      const one = await open();
      rig.bot.message(ana.chat, { from: ana.user, text: "before the holidays" });
      await until(() => rig.bot.pending().length === 0);
      const heard = polls().length;
      await until(() => polls().length > heard);
      rig.bot.numberUpdatesFrom(12);
      rig.bot.message(ana.chat, { from: ana.user, text: "after them" });
      await until(() => texts(one).length === 2);
      expect(texts(one)).toEqual(["before the holidays", "after them"]);
    });
  });

  it("asks for the updates that it knows what to do with", async () => {
    await open();
    expect(rig.bot.allowedUpdates()).toEqual(["message", "edited_message", "callback_query"]);
  });

  describe("beside others", () => {
    it("leaves a webhook that is set, says so, and goes on when it is deleted", async () => {
      const ana = rig.bot.person();
      const hook = { url: "http://127.0.0.1:9/production" };
      await call("setWebhook", hook);
      const one = rig.process();
      await one.adapter.start();
      await until(() => one.adapter.status().state === "reconnecting");
      expect(one.adapter.status().reason).toMatch(/webhook is set/);
      expect(rig.bot.webhook()).toEqual(hook);
      expect(rig.bot.calls.some(({ method }) => method === "deleteWebhook")).toBe(false);
      rig.bot.message(ana.chat, { from: ana.user, text: "hola" });
      await call("deleteWebhook", {});
      await until(() => texts(one).length === 1);
      expect(one.adapter.status().state).toBe("open");
    });

    it("replaces a webhook when it was told to, and drops no update by that", async () => {
      const ana = rig.bot.person();
      await call("setWebhook", { url: "http://127.0.0.1:9/old" });
      rig.bot.message(ana.chat, { from: ana.user, text: "hola" });
      const one = await open(rig.process({ receive: { mode: "polling", replaceWebhook: true } }));
      await until(() => texts(one).length === 1);
      expect(rig.bot.webhook()).toBeUndefined();
    });

    it("says that somebody else polls with its token, and goes on when they stop", async () => {
      const ana = rig.bot.person();
      const one = await open();
      let stranger = true;
      const strange = (async () => {
        while (stranger) {
          await call("getUpdates", { timeout: 1, offset: 0 });
          await sleep(2);
        }
      })();
      await until(() => one.host.statuses.some(({ reason }) => reason?.includes("Another program") === true));
      stranger = false;
      await strange;
      rig.bot.message(ana.chat, { from: ana.user, text: "hola" });
      await until(() => texts(one).length === 1 && one.adapter.status().state === "open");
    });

    it("stops to poll when its lease is lost, and another takes over without losing or repeating", async () => {
      const ana = rig.bot.person();
      const first = await open();
      const second = rig.process();
      await second.adapter.start();
      await until(() => second.adapter.status().reason?.includes("stands by") === true);
      rig.bot.message(ana.chat, { from: ana.user, text: "uno" });
      await until(() => rig.bot.pending().length === 0);
      rig.store.breakLease();
      await until(() => [first, second].filter(({ adapter }) => adapter.status().state === "open").length === 1);
      rig.bot.message(ana.chat, { from: ana.user, text: "dos" });
      await until(() => texts(first).length + texts(second).length === 2);
      await until(() => [first, second].some(({ adapter }) => adapter.status().reason?.includes("stands by") === true));
      expect([...texts(first), ...texts(second)].sort()).toEqual(["dos", "uno"]);
    });

    it("waits for a store that cannot give the lease", async () => {
      let away = true;
      const acquireLease = (ttlMs: number) =>
        away ? Promise.reject(new Error("redis is away")) : rig.store.acquireLease(ttlMs);
      const one = rig.process({}, { store: { ...rig.store, acquireLease } });
      await one.adapter.start();
      await until(() => one.adapter.status().reason?.includes("store") === true);
      expect(polls()).toHaveLength(0);
      away = false;
      await until(() => one.adapter.status().state === "open");
    });

    it("gives the lease back when it stops", async () => {
      const one = await open();
      await one.adapter.stop();
      const lease = await rig.store.acquireLease(1_000);
      expect(lease).toBeDefined();
      await lease?.release();
    });
  });

  describe("survives a Telegram that", () => {
    const troubles = [
      ["fails with 500", () => rig.bot.faults.add("getUpdates", faults.internal, 3)],
      ["answers with a proxy's page", () => rig.bot.faults.add("getUpdates", faults.badGateway, 3)],
      [
        "answers 200 with nonsense",
        () => rig.bot.faults.add("getUpdates", { kind: "garbage", status: 200, body: "[]", taken: false }, 2),
      ],
      ["never answers", () => rig.bot.faults.add("getUpdates", { kind: "hang", taken: false }, 1)],
      ["cuts the line", () => rig.bot.faults.add("getUpdates", { kind: "reset", taken: false }, 3)],
      [
        "cuts the line after it has taken the offset",
        () => rig.bot.faults.add("getUpdates", { kind: "reset", taken: true }, 2),
      ],
      ["asks for a pause", () => rig.bot.faults.add("getUpdates", faults.tooManyRequests(0.05), 2)],
      [
        "refuses the token for a while",
        () => rig.bot.faults.add("getUpdates", { kind: "error", code: 401, description: "Unauthorized" }, 2),
      ],
    ] as const;
    for (const [title, trouble] of troubles) {
      it(title, async () => {
        const ana = rig.bot.person();
        const one = await open(rig.process({ timing: impatientTiming }));
        trouble();
        for (let n = 0; n < 5; n++) {
          rig.bot.message(ana.chat, { from: ana.user, text: `${n}` });
          await sleep(10);
        }
        await until(
          () => texts(one).length === 5 && one.adapter.status().state === "open",
          () => [texts(one), one.adapter.status()],
        );
        expect(texts(one)).toEqual(["0", "1", "2", "3", "4"]);
        expect(one.host.statuses.some(({ state, reason }) => state === "reconnecting" && reason !== undefined)).toBe(
          true,
        );
        expect(JSON.stringify([one.host.logs, one.host.statuses])).not.toContain(rig.bot.token);
      });
    }

    it("cannot be reached for a while", async () => {
      const ana = rig.bot.person();
      const one = await open();
      await rig.platform.unreachable(true);
      await until(() => one.adapter.status().reason?.includes("cannot be reached") === true);
      await rig.platform.unreachable(false);
      rig.bot.message(ana.chat, { from: ana.user, text: "hola" });
      await until(() => texts(one).length === 1 && one.adapter.status().state === "open");
    });
  });

  it("says that its token is wrong, without telling the token", async () => {
    const token = "5000009:AAF_not-a-token-that-is-known";
    const one = rig.process({ token });
    await one.adapter.start();
    await until(() => one.adapter.status().reason?.includes("token") === true);
    expect(one.adapter.status().state).toBe("reconnecting");
    expect(JSON.stringify([one.host.logs, one.host.statuses])).not.toContain("AAF_not");
  });

  it("does not wait for an enqueue that hangs when it is stopped", async () => {
    const ana = rig.bot.person();
    const one = await open(rig.process({ timing: impatientTiming }, { beforeReceive: () => new Promise(() => {}) }));
    rig.bot.message(ana.chat, { from: ana.user, text: "hola" });
    await sleep(30);
    await one.adapter.stop();
    expect(rig.bot.pending()).toHaveLength(1);
  });

  async function call(method: string, payload: unknown): Promise<void> {
    await fetch(`${rig.platform.url}/bot${rig.bot.token}/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(payload),
    });
  }
});
