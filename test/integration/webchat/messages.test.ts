import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { DaleError } from "../../../src/errors/index.js";
import { createMemoryChannelStore } from "../../../src/store/index.js";
import { openWebchat } from "../../fixtures/webchat.js";

describe("what a visitor types", () => {
  it("is acknowledged only once it is durably enqueued", async () => {
    let enqueue = () => {};
    const durable = new Promise<void>((resolve) => {
      enqueue = resolve;
    });
    const web = await openWebchat({ beforeReceive: () => durable });
    const ana = web.visitor();
    await ana.enter();
    let answered = false;
    const posted = ana.type("hola").finally(() => {
      answered = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(answered).toBe(false);
    enqueue();
    expect((await posted).status).toBe(202);
    expect(web.host.received.map((message) => message.text)).toEqual(["hola"]);
  });

  it("is refused with 503 while the store is away, and taken once when it is posted again", async () => {
    const web = await openWebchat();
    const ana = web.visitor();
    const chat = await ana.enter();
    const id = randomUUID();
    web.host.storeAway(true);
    const refused = await ana.type("hola", { id });
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    await web.say(chat, "meanwhile");
    web.host.storeAway(false);
    expect((await ana.type("hola", { id })).status).toBe(202);
    expect((await ana.type("hola", { id })).status).toBe(202);
    expect(web.host.received.map((message) => message.text)).toEqual(["hola"]);
    expect(await kinds(web.store, chat)).toEqual(["person", "agent", "queued"]);
  });

  it("keeps the place in the order that it had when it first came", async () => {
    const web = await openWebchat();
    const ana = web.visitor();
    const chat = await ana.enter();
    const id = randomUUID();
    web.host.storeAway(true);
    await ana.type("si", { id });
    web.host.storeAway(false);
    const sent = await web.adapter.send({ chat, sender: chat, group: false, text: "¿confirmás?", id: "n-1" });
    await ana.type("si", { id });
    if (sent.status !== "accepted") throw new Error(sent.status);
    expect(web.host.received[0]?.order).toBeLessThan(sent.order ?? 0);
  });

  it("answers nothing that was not on the screen when Enter was pressed", async () => {
    const web = await openWebchat();
    const ana = web.visitor();
    const chat = await ana.enter();
    const feed = await ana.listen();
    const send = async (text: string) => {
      const result = await web.adapter.send({ chat, sender: chat, group: false, text, id: `n-${text}` });
      if (result.status !== "accepted") throw new Error(result.status);
      const line = await feed.next(({ data }) => data.id === `n-${text}`);
      return { order: result.order ?? 0, logId: line.id };
    };
    const early = await send("early");
    const notice = await send("notice");
    await ana.type("typed before the notice was there", { seen: early.logId });
    await ana.type("typed below the notice", { seen: notice.logId });
    await ana.type("from a client that does not say");
    await ana.type("typed when there was nothing", { seen: "0" });
    const [blind, informed, silent, first] = web.host.received.map(({ order = Number.NaN }) => order);
    expect(blind).toBeGreaterThan(early.order);
    expect(blind).toBeLessThan(notice.order);
    expect(informed).toBeGreaterThan(notice.order);
    expect(silent).toBeGreaterThan(notice.order);
    expect(first).toBeLessThan(early.order);
    await feed.close();
  });

  it("was sent when it was typed, however long it waited in the browser, but not for more than a day", async () => {
    const web = await openWebchat({ now: () => 1_000_000_000 });
    const ana = web.visitor();
    await ana.enter();
    await ana.type("now");
    await ana.type("an hour ago", { waitedMs: 3_600_000 });
    expect(web.host.received.map(({ sentAt, receivedAt }) => [sentAt, receivedAt])).toEqual([
      [1_000_000_000, 1_000_000_000],
      [996_400_000, 1_000_000_000],
    ]);
    const old = await ana.type("the day before yesterday", { waitedMs: 86_400_001 });
    expect([old.status, ((await old.json()) as { error: string }).error]).toEqual([409, "too_old"]);
  });

  it("reaches the queue in the order of the log, from however many tabs it comes", async () => {
    let delays = 8;
    const web = await openWebchat({
      beforeReceive: () => new Promise((resolve) => setTimeout(resolve, delays-- * 3)),
    });
    const ana = web.visitor();
    const chat = await ana.enter();
    await Promise.all(Array.from({ length: 8 }, (_, index) => ana.type(`tab ${index}`)));
    const entries = await web.store.log.read(chat, undefined, 100);
    const logged = entries.map(({ value }) => JSON.parse(value) as { kind: string; text: string });
    expect(web.host.received.map((message) => message.text)).toEqual(
      logged.filter(({ kind }) => kind === "person").map(({ text }) => text),
    );
  });

  it.each([
    ["no JSON", "{", 400, "invalid_json"],
    ["an array", "[]", 400, "invalid_request"],
    ["no text", { id: randomUUID() }, 400, "invalid_request"],
    ["a text that is none", { id: randomUUID(), text: 7 }, 400, "invalid_request"],
    ["an id that is none", { id: "1", text: "hola" }, 400, "invalid_request"],
    ["a field that nobody knows", { id: randomUUID(), text: "hola", provenance: "typed" }, 400, "invalid_request"],
    ["an empty text", { id: randomUUID(), text: "" }, 400, "text_empty"],
    ["blanks", { id: randomUUID(), text: " \n\t " }, 400, "text_empty"],
    ["half a character", `{"id":"${randomUUID()}","text":"si\\ud800"}`, 400, "text_invalid"],
    ["16,001 characters", { id: randomUUID(), text: "x".repeat(16_001) }, 413, "text_too_long"],
    ["100 kB", { id: randomUUID(), text: "x".repeat(100_000) }, 413, "body_too_large"],
    ["another chat than the cookie's", { id: randomUUID(), text: "hola", chat: "another" }, 409, "other_chat"],
  ])("is refused as %s", async (_, body, status, error) => {
    const web = await openWebchat();
    const ana = web.visitor();
    const chat = await ana.enter();
    const response = await ana.request("POST", "/messages", body);
    expect([response.status, await response.json()]).toEqual([status, { error, message: expect.any(String) }]);
    expect(web.host.received).toEqual([]);
    expect(await web.store.log.read(chat, undefined, 10)).toEqual([]);
  });

  it("is refused in any other form than JSON, in bytes that are not UTF-8, and by any other method", async () => {
    const web = await openWebchat();
    const ana = web.visitor();
    await ana.enter();
    const form = await ana.request("POST", "/messages", "text=si", { "content-type": "text/plain" });
    expect(form.status).toBe(415);
    const cookie = ana.cookie ?? "";
    const json = Buffer.from(JSON.stringify({ id: randomUUID(), text: "s\u00ed" }), "latin1");
    const bytes = await web.adapter.handle?.(
      new Request("http://127.0.0.1/chat/web/messages", {
        method: "POST",
        headers: { "content-type": "application/json", cookie },
        body: json,
      }),
      "/messages",
    );
    expect([bytes?.status, await bytes?.json()]).toMatchObject([400, { error: "invalid_json" }]);
    expect(web.host.received).toEqual([]);
    expect((await ana.request("GET", "/messages")).status).toBe(405);
  });

  it("is not taken for too large because it declares no length", async () => {
    const web = await openWebchat();
    const ana = web.visitor();
    await ana.enter();
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(8_192).fill(0x20)),
    });
    const response = await web.adapter.handle?.(
      new Request("http://127.0.0.1/chat/web/messages", {
        method: "POST",
        headers: { "content-type": "application/json", cookie: ana.cookie ?? "" },
        body: endless,
        duplex: "half",
      } as RequestInit),
      "/messages",
    );
    expect(response?.status).toBe(413);
  });

  it.each([
    ["another site, as the browser says", { "sec-fetch-site": "cross-site" }],
    ["a neighbour's subdomain", { "sec-fetch-site": "same-site" }],
    ["another origin, where the browser says no more", { "sec-fetch-site": "", origin: "http://evil.example" }],
    ["a sandboxed frame", { "sec-fetch-site": "", origin: "null" }],
    ["another port", { "sec-fetch-site": "", origin: "http://127.0.0.1:9999" }],
  ])("is refused from %s", async (_, headers) => {
    const web = await openWebchat();
    const ana = web.visitor();
    await ana.enter();
    const send = (path: string, body: unknown) => {
      const all = new Headers({ "content-type": "application/json", cookie: ana.cookie ?? "", ...headers });
      if (all.get("sec-fetch-site") === "") all.delete("sec-fetch-site");
      const url = `http://127.0.0.1:8080/chat/web${path}`;
      return web.adapter.handle?.(new Request(url, { method: "POST", headers: all, body: JSON.stringify(body) }), path);
    };
    expect((await send("/messages", { id: randomUUID(), text: "si" }))?.status).toBe(403);
    expect((await send("/session", {}))?.status).toBe(403);
    expect((await send("/receipts", { ids: ["x"], level: "read" }))?.status).toBe(403);
    expect(web.host.received).toEqual([]);
    expect(web.host.counts).toContain("request_of_other_origin");
  });

  it("may come through a proxy that says for whom it stands, and from no browser at all", async () => {
    const web = await openWebchat();
    const ana = web.visitor();
    await ana.enter();
    const post = async (headers: Record<string, string>) => {
      const request = new Request("http://10.0.0.7:8080/chat/web/messages", {
        method: "POST",
        headers: { "content-type": "application/json", cookie: ana.cookie ?? "", ...headers },
        body: JSON.stringify({ id: randomUUID(), text: "hola" }),
      });
      return (await web.adapter.handle?.(request, "/messages"))?.status;
    };
    expect(await post({ origin: "https://shop.example", "x-forwarded-host": "shop.example" })).toBe(202);
    expect(await post({})).toBe(202);
  });

  it("is slowed down when it is too much, for that visitor alone", async () => {
    let now = 1_000_000;
    const web = await openWebchat({ now: () => now, tuning: { messages: { count: 3, perMs: 10_000 } } });
    const [ana, beto] = [web.visitor(), web.visitor()];
    await ana.enter();
    await beto.enter();
    for (let index = 0; index < 3; index++) expect((await ana.type("hola")).status).toBe(202);
    const fourth = await ana.type("hola");
    expect([fourth.status, fourth.headers.get("retry-after")]).toEqual([429, "10"]);
    expect((await beto.type("hola")).status).toBe(202);
    now += 10_000;
    expect((await ana.type("hola")).status).toBe(202);
  });

  it("is answered 503 by its deadline when the store says nothing, whatever else waits", async () => {
    const hanging = createMemoryChannelStore();
    const log = { ...hanging.log, append: () => new Promise<never>(() => {}) };
    const web = await openWebchat({ store: { ...hanging, log }, tuning: { answerWithin: 40 } });
    const ana = web.visitor();
    await ana.enter();
    const responses = await Promise.all([ana.type("one"), ana.type("two"), ana.type("three")]);
    expect(responses.map(({ status }) => status)).toEqual([503, 503, 503]);
    expect(web.host.received).toEqual([]);
  });

  it("is never in a log line, when it could not be taken over", async () => {
    const web = await openWebchat({
      beforeReceive: async () => {
        throw new DaleError("store_unavailable", "away");
      },
    });
    const ana = web.visitor();
    const chat = await ana.enter();
    await ana.type("my secret");
    const told = JSON.stringify(web.host.logs);
    expect(web.host.logs).not.toEqual([]);
    for (const secret of ["my secret", chat, ana.cookie ?? "?"]) expect(told).not.toContain(secret);
  });

  it("is refused after the account was stopped", async () => {
    const web = await openWebchat();
    const ana = web.visitor();
    await ana.enter();
    await web.adapter.stop();
    expect((await ana.type("hola")).status).toBe(503);
    expect(web.host.received).toEqual([]);
  });
});

async function kinds(store: Awaited<ReturnType<typeof openWebchat>>["store"], chat: string): Promise<string[]> {
  return (await store.log.read(chat, undefined, 100)).map(({ value }) => (JSON.parse(value) as { kind: string }).kind);
}
