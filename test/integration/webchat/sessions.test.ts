import { describe, expect, it } from "vitest";
import { createMemoryChannelStore } from "../../../src/store/index.js";
import { openWebchat } from "../../fixtures/webchat.js";

describe("a visitor's session", () => {
  it("is a cookie that no script reads, no other site sends and no other account gets", async () => {
    const web = await openWebchat();
    const response = await web.visitor().request("POST", "/session", {});
    expect(response.status).toBe(200);
    const cookie = response.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/^dale_chat=[A-Za-z0-9_-]{22}; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
    // No Path: the browser takes the folder of /chat/web/session, whatever a proxy calls it.
    expect(cookie).not.toMatch(/path|domain/i);
  });

  it("travels over https alone where the page does", async () => {
    const web = await openWebchat();
    const behindProxy = await web.visitor().request("POST", "/session", {}, { "x-forwarded-proto": "https" });
    expect(behindProxy.headers.get("set-cookie")).toContain("; Secure");
  });

  it("is the same chat for every page of the same browser", async () => {
    const web = await openWebchat();
    const ana = web.visitor();
    const chat = await ana.enter();
    const again = await ana.request("POST", "/session", {});
    expect(again.headers.get("set-cookie")).toBeNull();
    expect(await again.json()).toMatchObject({ chat, title: "web", maxTextLength: 16_000 });
    expect(await web.visitor().enter()).not.toBe(chat);
  });

  it("tells the page what its account is called, and in which language, if the account says so", async () => {
    const page = async (options: Parameters<typeof openWebchat>[0]) => {
      const response = await (await openWebchat(options)).visitor().request("POST", "/session", {});
      return await response.json();
    };
    expect(await page({ options: { title: "Mesa de cobranzas", locale: "pt-BR" } })).toMatchObject({
      title: "Mesa de cobranzas",
      locale: "pt-BR",
    });
    expect(await page({})).not.toHaveProperty("locale");
  });

  it("shows operators an id that opens nothing", async () => {
    const web = await openWebchat();
    const ana = web.visitor();
    const chat = await ana.enter();
    await ana.type("hola");
    expect(web.host.received[0]).toMatchObject({ chat, sender: chat });
    expect(ana.cookie).not.toContain(chat);
    const impostor = web.visitor();
    impostor.cookie = `dale_chat=${chat}`;
    expect((await impostor.type("soy Ana")).status).toBe(401);
    expect(await impostor.enter()).not.toBe(chat);
  });

  it("is refused to whoever makes one up", async () => {
    const web = await openWebchat();
    const nobody = web.visitor();
    for (const cookie of [undefined, "dale_chat=", "dale_chat=short", "other=1", `dale_chat=${"A".repeat(22)}`]) {
      nobody.cookie = cookie;
      expect((await nobody.type("hola")).status).toBe(401);
      expect((await nobody.request("GET", "/events")).status).toBe(401);
      expect((await nobody.request("POST", "/receipts", { ids: ["x"], level: "read" })).status).toBe(401);
    }
    expect(web.host.received).toEqual([]);
  });

  it("is not handed out in numbers, while those who have one still come in", async () => {
    let now = 1_000_000;
    const web = await openWebchat({ now: () => now, tuning: { newChats: { count: 2, perMs: 60_000 } } });
    const ana = web.visitor();
    const chat = await ana.enter();
    await web.visitor().enter();
    const third = await web.visitor().request("POST", "/session", {});
    expect(third.status).toBe(429);
    expect(third.headers.get("retry-after")).toBe("60");
    expect(web.host.counts).toContain("new_chats_refused");
    expect(await ana.enter()).toBe(chat);
    now += 60_000;
    expect((await web.visitor().request("POST", "/session", {})).status).toBe(200);
  });

  it("survives the process; for long once somebody wrote, for a day if nobody did", async () => {
    let now = 1_000_000;
    const store = createMemoryChannelStore({ now: () => now });
    const first = await openWebchat({ store, now: () => now });
    const [ana, beto] = [first.visitor(), first.visitor()];
    const chats = [await ana.enter(), await beto.enter()];
    await ana.type("hola");
    now += 100 * 86_400_000;
    const later = await openWebchat({ store, now: () => now });
    const enterAgain = async (cookie: string | undefined) => {
      const visitor = later.visitor();
      visitor.cookie = cookie;
      return await visitor.enter();
    };
    expect(await enterAgain(ana.cookie)).toBe(chats[0]);
    expect(await enterAgain(beto.cookie)).not.toBe(chats[1]);
  });

  it("answers 503 and hands out nothing while the store is away", async () => {
    const { store } = await openWebchat();
    const away = { ...store, get: () => new Promise<never>(() => {}), set: () => new Promise<never>(() => {}) };
    const web = await openWebchat({ store: away, tuning: { answerWithin: 30 } });
    const response = await web.visitor().request("POST", "/session", {});
    expect(response.status).toBe(503);
    expect(response.headers.get("set-cookie")).toBeNull();
  });
});
