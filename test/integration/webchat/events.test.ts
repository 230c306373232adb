import type { Redis } from "ioredis";
import { afterEach, describe, expect, it } from "vitest";
import type { ChannelStore, LogEntry } from "../../../src/channels/index.js";
import { DaleError } from "../../../src/errors/index.js";
import { createMemoryChannelStore, createRedisChannelStore, createSignals } from "../../../src/store/index.js";
import { testPrefix, testRedis } from "../../fixtures/redis.js";
import { openWebchat } from "../../fixtures/webchat.js";
import type { EventFeed, ServerEvent } from "../../fixtures/webchat-visitor.js";

const opened: Redis[] = [];
afterEach(() => {
  for (const redis of opened.splice(0)) redis.disconnect();
});

describe("what a page is told", () => {
  it("is first what was said, then what is being said", async () => {
    const web = await openWebchat();
    const ana = web.visitor();
    const chat = await ana.enter();
    await ana.type("hola");
    await web.say(chat, "buenas");
    const feed = await ana.listen();
    const history = await feed.next(({ event }) => event === "history");
    expect(history.data).toMatchObject({ resumed: false });
    expect(linesOf(history).map(({ kind, text }) => [kind, text])).toEqual([
      ["person", "hola"],
      ["queued", undefined],
      ["agent", "buenas"],
    ]);
    const ref = await web.say(chat, "¿algo más?");
    const entry = await feed.next(({ event }) => event === "entry");
    expect(entry.data).toMatchObject({ kind: "agent", id: ref, text: "¿algo más?", logId: entry.id });
    await feed.close();
  });

  it("is the same in every tab, and nothing of anybody else", async () => {
    const web = await openWebchat();
    const [ana, beto] = [web.visitor(), web.visitor()];
    await ana.enter();
    await beto.enter();
    const feeds = [await ana.listen(), await ana.listen()];
    const other = await beto.listen();
    await ana.type("from one tab");
    for (const feed of feeds) {
      await feed.next(({ data }) => data.kind === "queued");
      expect(texts(feed)).toEqual(["from one tab"]);
    }
    await beto.type("mine");
    await other.next(({ data }) => data.kind === "queued");
    expect(texts(other)).toEqual(["mine"]);
    for (const feed of [...feeds, other]) await feed.close();
  });

  it("goes on where a browser was cut off", async () => {
    const web = await openWebchat();
    const ana = web.visitor();
    const chat = await ana.enter();
    await web.say(chat, "one");
    const first = await ana.listen();
    const { id } = await first.next(({ event }) => event === "history");
    await first.close();
    await web.say(chat, "two");
    for (const feed of [await ana.listen(id), await ana.listen(undefined, { "last-event-id": id ?? "" })]) {
      const history = await feed.next(({ event }) => event === "history");
      expect(history.data.resumed).toBe(true);
      expect(linesOf(history).map(({ text }) => text)).toEqual(["two"]);
      await feed.close();
    }
  });

  it("begins anew instead of leaving out what a browser missed", async () => {
    const web = await openWebchat();
    const ana = web.visitor();
    const chat = await ana.enter();
    const first = await ana.listen();
    await web.say(chat, "start");
    const { id } = await first.next(({ event }) => event === "entry");
    await first.close();
    for (let index = 0; index < 450; index++) await web.say(chat, `missed ${index}`);
    const feed = await ana.listen(id);
    const history = await feed.next(({ event }) => event === "history");
    expect(history.data.resumed).toBe(false);
    expect(linesOf(history)).toHaveLength(400);
    expect(linesOf(history).at(-1)?.text).toBe("missed 449");
    await feed.close();
  });

  it("leaves out the oldest of a history that is too long to be handed over at once", async () => {
    const web = await openWebchat();
    const ana = web.visitor();
    const chat = await ana.enter();
    for (let index = 0; index < 80; index++) await web.say(chat, `${index}`.padEnd(15_900, "x"));
    const feed = await ana.listen();
    const lines = linesOf(await feed.next(({ event }) => event === "history"));
    expect(lines.at(-1)?.text).toMatch(/^79x/);
    expect(lines.length).toBeGreaterThan(50);
    expect(lines.length).toBeLessThan(70);
    await feed.close();
  });

  it("misses nothing and repeats nothing that comes while it is being opened", async () => {
    const store = createMemoryChannelStore();
    const append = store.log.append.bind(store.log);
    let during: () => Promise<unknown> = async () => {};
    const log: ChannelStore["log"] = {
      ...store.log,
      async read(chat, afterId, limit) {
        await during();
        const entries = await store.log.read(chat, afterId, limit);
        await during();
        return entries;
      },
    };
    const web = await openWebchat({ store: { ...store, log } });
    const ana = web.visitor();
    const chat = await ana.enter();
    let count = 0;
    during = () => append(chat, agentLine(`m-${++count}`));
    const feed = await ana.listen();
    during = async () => {};
    await append(chat, agentLine("last"));
    await feed.next(({ data }) => data.id === "last");
    expect(feed.events.map(({ event }) => event)).toEqual(["history", "entry", "entry"]);
    expect(ids(feed)).toEqual(["m-1", "m-2", "last"]);
    await feed.close();
  });

  it("tells that an answer is being written, and that a message was taken up, to those who look", async () => {
    const web = await openWebchat();
    const ana = web.visitor();
    const chat = await ana.enter();
    const feed = await ana.listen();
    await web.adapter.typing?.(chat);
    await web.adapter.markRead?.({ chat, sender: chat, id: "m-1" });
    await feed.next(({ data }) => data.kind === "typing");
    await feed.next(({ data }) => data.kind === "taken" && data.id === "m-1");
    await feed.close();
  });

  it("comes from whichever process sends", async () => {
    const prefix = testPrefix();
    const process = async () => {
      const [redis, subscriber] = [testRedis(), testRedis()];
      opened.push(redis, subscriber);
      const signals = createSignals({ redis, subscriber, prefix });
      const store = createRedisChannelStore({ redis, prefix, signals, channel: "webchat", account: "web" });
      return await openWebchat({ store });
    };
    const [http, sender] = [await process(), await process()];
    const ana = http.visitor();
    const chat = await ana.enter();
    const feed = await ana.listen();
    await sender.adapter.typing?.(chat);
    await feed.next(({ data }) => data.kind === "typing");
    const ref = await sender.say(chat, "from elsewhere", "web-1");
    await sender.say(chat, "sent again", "web-1");
    await sender.say(chat, "and on");
    await feed.next(({ data }) => data.text === "and on");
    expect(texts(feed)).toEqual(["from elsewhere", "and on"]);
    expect((await ana.request("POST", "/receipts", { ids: [ref], level: "delivered" })).status).toBe(200);
    expect(http.host.receipts).toMatchObject([{ ref, level: "delivered" }]);
    const sameBrowser = sender.visitor();
    sameBrowser.cookie = ana.cookie;
    expect(await sameBrowser.enter()).toBe(chat);
    await sameBrowser.type("through the other process");
    await feed.next(({ data }) => data.kind === "queued");
    const order = sender.host.received[0]?.order ?? 0;
    const sent = await http.adapter.send({ chat, sender: chat, group: false, text: "later", id: "web-2" });
    expect(sent.status === "accepted" && (sent.order ?? 0) > order).toBe(true);
    await feed.close();
  });

  it("finds at its next beat what nobody told it", async () => {
    const store = createMemoryChannelStore();
    const deaf: ChannelStore["log"] = { ...store.log, follow: async () => () => {} };
    const web = await openWebchat({ store: { ...store, log: deaf }, tuning: { heartbeat: 20 } });
    const ana = web.visitor();
    const chat = await ana.enter();
    const feed = await ana.listen();
    await web.say(chat, "unheard");
    await feed.next(({ data }) => data.text === "unheard");
    const beats = () => feed.events.filter(({ event }) => event === "beat").length;
    const before = beats();
    await feed.next(() => beats() > before + 1);
    expect(texts(feed)).toEqual(["unheard"]);
    await feed.close();
  });

  it("ends when the store is away, so that the page comes back and says so", async () => {
    const store = createMemoryChannelStore();
    let away = false;
    const log: ChannelStore["log"] = {
      ...store.log,
      async read(chat, afterId, limit) {
        if (away) throw new DaleError("store_unavailable", "away");
        return await store.log.read(chat, afterId, limit);
      },
    };
    const web = await openWebchat({ store: { ...store, log }, tuning: { heartbeat: 20 } });
    const ana = web.visitor();
    await ana.enter();
    const feed = await ana.listen();
    away = true;
    await feed.ended;
    expect((await ana.request("GET", "/events")).status).toBe(503);
  });

  it("answers 503 by its deadline when the store says nothing, and listens no longer", async () => {
    const store = createMemoryChannelStore();
    let heard: (stop: () => void) => void = () => {};
    let stopped = false;
    const follow = () =>
      new Promise<() => void>((resolve) => {
        heard = resolve;
      });
    const web = await openWebchat({ store: { ...store, log: { ...store.log, follow } }, tuning: { answerWithin: 30 } });
    const ana = web.visitor();
    await ana.enter();
    expect((await ana.request("GET", "/events")).status).toBe(503);
    heard(() => {
      stopped = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(stopped).toBe(true);
  });

  it("moves to the newest tabs when a browser opens more than it has connections for", async () => {
    const web = await openWebchat({ tuning: { streamsPerChat: 2 } });
    const [ana, beto] = [web.visitor(), web.visitor()];
    const chat = await ana.enter();
    await beto.enter();
    const others = await beto.listen();
    const feeds = [await ana.listen(), await ana.listen(), await ana.listen()];
    await feeds[0]?.ended;
    expect(feeds[0]?.events.at(-1)?.event).toBe("moved");
    await web.say(chat, "hola");
    for (const feed of feeds.slice(1)) await feed.next(({ data }) => data.text === "hola");
    for (const feed of [...feeds.slice(1), others]) await feed.close();
  });

  it("ends when the account is stopped", async () => {
    const web = await openWebchat();
    const ana = web.visitor();
    await ana.enter();
    const feed = await ana.listen();
    await web.adapter.stop();
    await feed.ended;
    expect((await ana.request("GET", "/events")).status).toBe(503);
  });

  it("leaves out a line of another version, and counts it", async () => {
    const web = await openWebchat();
    const ana = web.visitor();
    const chat = await ana.enter();
    for (const line of ['{"version":2,"kind":"agent","id":"x","text":"?","at":1}', "nonsense", "{}"]) {
      await web.store.log.append(chat, line);
    }
    await web.say(chat, "readable");
    const feed = await ana.listen();
    expect(linesOf(await feed.next(({ event }) => event === "history")).map(({ text }) => text)).toEqual(["readable"]);
    expect(web.host.counts.filter((event) => event === "unreadable_log_entry")).toHaveLength(3);
    await feed.close();
  });

  it("lets go of a browser that reads nothing", async () => {
    const store = createMemoryChannelStore();
    let followers = 0;
    const follow: ChannelStore["log"]["follow"] = async (...words) => {
      const stop = await store.log.follow(...words);
      followers++;
      return () => {
        followers--;
        stop();
      };
    };
    const web = await openWebchat({ store: { ...store, log: { ...store.log, follow } } });
    const ana = web.visitor();
    const chat = await ana.enter();
    const response = await ana.request("GET", "/events");
    expect([response.status, followers]).toEqual([200, 1]);
    for (let index = 0; followers > 0; index++) {
      if (index > 1_000) throw new Error("it held on for ever");
      await web.say(chat, "x".repeat(15_000));
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    expect(followers).toBe(0);
  });
});

describe("receipts", () => {
  it("are taken over for messages of one's own chat alone", async () => {
    const web = await openWebchat();
    const [ana, beto] = [web.visitor(), web.visitor()];
    const chat = await ana.enter();
    await beto.enter();
    const ref = await web.say(chat, "only for Ana");
    const stolen = await beto.request("POST", "/receipts", { ids: [ref, "made up"], level: "delivered" });
    expect(await stolen.json()).toEqual({ ids: [] });
    expect(web.host.receipts).toEqual([]);
    expect(web.host.counts).toContain("receipt_of_no_message");
    const own = await ana.request("POST", "/receipts", { ids: [ref, ref], level: "read" });
    expect(await own.json()).toEqual({ ids: [ref] });
    expect(web.host.receipts).toMatchObject([{ ref, level: "read" }]);
  });

  it("are not taken for what one has typed oneself", async () => {
    const web = await openWebchat();
    const ana = web.visitor();
    await ana.enter();
    const { id } = (await (await ana.type("hola")).json()) as { id: string };
    await ana.request("POST", "/receipts", { ids: [id], level: "read" });
    expect(web.host.receipts).toEqual([]);
  });

  it("are answered 503 when they could not be written, so that the page repeats them", async () => {
    const web = await openWebchat();
    const ana = web.visitor();
    const chat = await ana.enter();
    const ref = await web.say(chat, "hola");
    web.host.storeAway(true);
    expect((await ana.request("POST", "/receipts", { ids: [ref], level: "delivered" })).status).toBe(503);
  });

  it.each([
    ["a level that a browser cannot know", { ids: ["x"], level: "failed" }],
    ["no ids", { ids: [], level: "read" }],
    ["too many ids", { ids: Array.from({ length: 500 }, (_, index) => `${index}`), level: "read" }],
  ])("are refused with %s", async (_, body) => {
    const web = await openWebchat();
    const ana = web.visitor();
    await ana.enter();
    expect((await ana.request("POST", "/receipts", body)).status).toBe(400);
  });
});

interface Line {
  readonly kind: string;
  readonly id: string;
  readonly text?: string;
}

function linesOf(history: ServerEvent): readonly Line[] {
  return history.data.entries as readonly Line[];
}

function lines(feed: EventFeed): readonly Line[] {
  return feed.events.flatMap((event) => {
    if (event.event === "history") return linesOf(event);
    return event.event === "entry" ? [event.data as unknown as Line] : [];
  });
}

const texts = (feed: EventFeed) => lines(feed).flatMap(({ text }) => text ?? []);
const ids = (feed: EventFeed) => lines(feed).map(({ id }) => id);

function agentLine(id: string): LogEntry["value"] {
  return JSON.stringify({ version: 1, kind: "agent", id, text: id, at: 1 });
}
