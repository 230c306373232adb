import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { faults } from "../../fakes/telegram-bot-api/index.js";
import type { TestHostOptions } from "../../fixtures/channel-host.js";
import { startWebhookSite, until, type WebhookSite } from "../../fixtures/telegram.js";
import { createTelegramRig, type TelegramProcess, type TelegramRig } from "../../fixtures/telegram-rig.js";

const secretToken = "s3cret_of-the-webhook";

describe("Telegram by webhook", () => {
  let rig: TelegramRig;
  let site: WebhookSite;
  beforeEach(async () => {
    rig = await createTelegramRig();
    site = await startWebhookSite();
  });
  afterEach(async () => {
    await rig.close();
    await site.close();
  });

  const receiving = (url?: string, host: TestHostOptions = {}): TelegramProcess => {
    const receive = { mode: "webhook" as const, secretToken, ...(url === undefined ? {} : { url }) };
    const one = rig.process({ receive }, host);
    site.mount(one.adapter);
    return one;
  };
  const open = async (one = receiving(site.url)): Promise<TelegramProcess> => {
    await one.adapter.start();
    await until(() => one.adapter.status().state === "open", one.adapter.status);
    return one;
  };
  const texts = (one: TelegramProcess) => one.host.received.map((message) => message.text);
  const push = (
    one: TelegramProcess,
    body: BodyInit | null,
    options: { secret?: string | null; path?: string; method?: string } = {},
  ): Promise<Response> => {
    const secret = options.secret === undefined ? secretToken : options.secret;
    const request = new Request("http://dale.example/webhooks/telegram/bot", {
      method: options.method ?? "POST",
      ...(body === null ? {} : { body }),
      headers: secret === null ? {} : { "x-telegram-bot-api-secret-token": secret },
    });
    return one.adapter.handle(request, options.path ?? "/");
  };
  const hola = () => {
    const ana = { id: 41, is_bot: false, first_name: "Ana" };
    const message = { message_id: 5, date: 1_700_000_000, chat: { id: 41, type: "private" }, from: ana, text: "hola" };
    return JSON.stringify({ update_id: 9, message });
  };

  describe("at start", () => {
    it("sets the webhook with its secret, for the updates that it knows what to do with", async () => {
      await open();
      expect(rig.bot.webhook()).toEqual({ url: `${site.url}/webhooks/telegram/bot`, secretToken });
      expect(rig.bot.allowedUpdates()).toEqual(["message", "edited_message", "callback_query"]);
    });

    it("leaves the webhook to the operator where no url is given", async () => {
      await open(receiving());
      expect(rig.bot.calls).toEqual([]);
    });

    it("tries until Telegram has it, and says why it has not", async () => {
      rig.bot.faults.add("setWebhook", faults.internal, 2);
      rig.bot.faults.add("setWebhook", { kind: "error", code: 401, description: "Unauthorized" });
      const one = await open();
      expect(one.host.statuses.map((status) => status.state)).toContain("reconnecting");
      expect(one.host.statuses.some((status) => status.reason?.includes("token") === true)).toBe(true);
      expect(rig.bot.webhook()).toBeDefined();
    });

    it("does not remove the webhook when it stops: another process may serve it", async () => {
      const one = await open();
      await one.adapter.stop();
      expect(rig.bot.webhook()).toBeDefined();
    });
  });

  describe("answers", () => {
    it("200 only after the message is enqueued", async () => {
      const ana = rig.bot.person();
      let release = () => {};
      const gate = new Promise<void>((resolve) => {
        release = resolve;
      });
      let answered = false;
      const one = receiving(undefined, { beforeReceive: () => gate });
      const answer = push(one, hola()).then((response) => {
        answered = true;
        return response.status;
      });
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(answered).toBe(false);
      release();
      expect(await answer).toBe(200);
      expect(texts(one)).toEqual(["hola"]);
      expect(ana.user.is_bot).toBe(false);
    });

    it("401 to whoever does not know the secret, and takes nothing from them", async () => {
      const one = receiving();
      const wrong = [null, "", "s3cret_of-the-webhooK", `${secretToken}x`, secretToken.slice(0, -1), "x".repeat(256)];
      for (const secret of wrong) expect((await push(one, hola(), { secret })).status).toBe(401);
      expect(one.host.received).toEqual([]);
      expect(one.host.counts).toEqual(wrong.map(() => "webhook_refused"));
    });

    it("400 to what is no update", async () => {
      const one = receiving();
      const garbage: BodyInit[] = ["", "{", "null", "[]", '"text"', "{}", '{"update_id":"1"}', '{"update_id":1.5}'];
      garbage.push(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]));
      for (const body of garbage) expect((await push(one, body)).status).toBe(400);
      expect(one.host.received).toEqual([]);
    });

    it("200 to an update of a kind, or with a message, that it cannot read: it would come again for a day", async () => {
      const one = receiving();
      expect((await push(one, '{"update_id":1,"brand_new":{"a":1}}')).status).toBe(200);
      expect((await push(one, '{"update_id":2,"message":{"message_id":"x"}}')).status).toBe(200);
      expect(one.host.counts).toEqual(["unsupported_update", "malformed_update"]);
    });

    it("413 to a body that no update can have, without reading all of it", async () => {
      const one = receiving();
      let given = 0;
      const endless = new ReadableStream<Uint8Array>({
        pull(controller) {
          given += 64 * 1024;
          controller.enqueue(new Uint8Array(64 * 1024).fill(0x20));
        },
      });
      const request = new Request("http://dale.example/", {
        method: "POST",
        body: endless,
        headers: { "x-telegram-bot-api-secret-token": secretToken },
        ...{ duplex: "half" },
      });
      expect((await one.adapter.handle(request, "/")).status).toBe(413);
      expect(given).toBeLessThan(4 * 1024 * 1024);
    });

    it("405 to other methods, 404 to other paths, and 404 to everything where it polls", async () => {
      const one = receiving();
      expect((await push(one, null, { method: "GET" })).status).toBe(405);
      expect((await push(one, hola(), { path: "/more" })).status).toBe(404);
      expect((await push(rig.process(), hola())).status).toBe(404);
    });

    it("503 while the store is away, and asks to come again soon", async () => {
      const one = receiving();
      one.host.storeAway(true);
      const response = await push(one, hola());
      expect(response.status).toBe(503);
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
      one.host.storeAway(false);
      expect((await push(one, hola())).status).toBe(200);
      expect(texts(one)).toEqual(["hola"]);
    });

    it("503 when the store does not answer in time, and takes the message once when both attempts come through", async () => {
      let release = () => {};
      const gate = new Promise<void>((resolve) => {
        release = resolve;
      });
      const one = receiving(undefined, { beforeReceive: () => gate });
      expect((await push(one, hola())).status).toBe(503);
      release();
      expect((await push(one, hola())).status).toBe(200);
      expect(texts(one)).toEqual(["hola"]);
      expect(one.host.duplicates).toBe(1);
    });

    it("503 after it was stopped", async () => {
      const one = await open();
      await one.adapter.stop();
      expect((await push(one, hola())).status).toBe(503);
      expect(one.host.received).toEqual([]);
    });
  });

  it("loses nothing, repeats nothing and keeps each chat's order over an outage of the store", async () => {
    const [ana, beto] = [rig.bot.person("Ana"), rig.bot.person("Beto")];
    const one = await open();
    one.host.storeAway(true);
    for (let n = 0; n < 10; n++) {
      rig.bot.message(ana.chat, { from: ana.user, text: `ana ${n}` });
      rig.bot.message(beto.chat, { from: beto.user, text: `beto ${n}` });
    }
    await until(() => rig.bot.pushes().filter(({ status }) => status === 503).length > 4);
    expect(rig.bot.pending()).toHaveLength(20);
    one.host.storeAway(false);
    await until(() => rig.bot.pending().length === 0);
    const of = (name: string) => texts(one).filter((text) => text.startsWith(name));
    for (const name of ["ana", "beto"]) expect(of(name)).toEqual(Array.from({ length: 10 }, (_, n) => `${name} ${n}`));
    expect(one.host.duplicates).toBe(0);
  });

  it("is served by any process: two of them take a chat's messages in turn", async () => {
    const ana = rig.bot.person();
    const first = await open();
    for (const text of ["uno", "dos"]) rig.bot.message(ana.chat, { from: ana.user, text });
    await until(() => rig.bot.pending().length === 0);
    const second = await open();
    await first.adapter.stop();
    rig.bot.message(ana.chat, { from: ana.user, text: "tres" });
    await until(() => rig.bot.pending().length === 0);
    expect([texts(first), texts(second)]).toEqual([["uno", "dos"], ["tres"]]);
  });
});
