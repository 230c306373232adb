import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FakeBackend, startBackend } from "../fakes/backend/index.js";
import { type FakeOpenAi, startFakeOpenAi } from "../fakes/openai/index.js";
import { type FakeBotApi, startFakeBotApi } from "../fakes/telegram-bot-api/index.js";
import {
  cobranzasAgent,
  praxisConnections,
  praxisManifest,
  storyModel,
  storyNotice,
  storyQuestion,
} from "../fixtures/cobranzas.js";
import { eventually, type Gateway, type Installation, install } from "../fixtures/gateway.js";
import { findPostgres, startPostgres, type TestPostgres } from "../fixtures/postgres.js";
import { type RedisServer, startRedisServer } from "../fixtures/redis-server.js";

interface Item {
  readonly type: string;
  readonly proposal: string;
  readonly [key: string]: unknown;
}

/** One installation with a person who asked, was shown the notice, and said yes. */
class Story {
  backend!: FakeBackend;
  model!: FakeOpenAi;
  telegram!: FakeBotApi;
  place!: Installation;
  session = "";
  proposal = "";

  async open(config: Readonly<Record<string, unknown>> = {}): Promise<void> {
    [this.backend, this.model, this.telegram] = await Promise.all([
      startBackend(),
      startFakeOpenAi({ script: storyModel }),
      startFakeBotApi(),
    ]);
    const bot = this.telegram.bot();
    const account = { name: "bot", agent: "cobranzas", token: bot.token, api_root: this.telegram.url };
    this.place = await install({
      config: { channels: { telegram: [account] }, ...config },
      agents: { cobranzas: cobranzasAgent(this.model.url) },
      integrations: { praxis: praxisManifest },
      connections: praxisConnections(this.backend.url),
    });
    this.converse = async () => {
      const sent = bot.sent.length;
      const { user, chat } = bot.person();
      bot.message(chat, { from: user, text: storyQuestion });
      await eventually(() => bot.sent[sent]?.text);
      bot.message(chat, { from: user, text: "dale" });
      await eventually(() => bot.sent[sent + 1]?.text);
      this.session = `telegram:bot:${chat.id}:${user.id}`;
      const items = await eventually(async () => {
        const { items: seen } = await this.evidence();
        return seen.some(({ type }) => type === "executed") ? seen : undefined;
      });
      this.proposal = items[0]?.proposal ?? "";
    };
  }
  converse: () => Promise<void> = async () => {};

  async evidence(more = ""): Promise<{ items: readonly Item[]; complete?: boolean }> {
    const { url, token } = this.place;
    const path = `/v1/evidence?session=${encodeURIComponent(this.session)}${more}`;
    const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
    return (await response.json()) as { items: readonly Item[]; complete?: boolean };
  }

  run(...words: readonly string[]): ReturnType<Installation["run"]> {
    return this.place.run(["evidence", ...words]);
  }

  async close(): Promise<void> {
    await Promise.all([this.backend.close(), this.model.stop(), this.telegram.close()]);
    await this.place.remove();
  }
}

const path = ["proposed", "notice_sent", "notice_delivered", "granted", "consumed", "executed"];

describe("the evidence of a conversation", () => {
  const story = new Story();
  let dale: Gateway;
  beforeAll(async () => {
    await story.open();
    dale = await story.place.start();
    await story.converse();
  });
  afterAll(async () => {
    expect(await dale.stop()).toBe(0);
    await story.close();
  });

  it("says what was proposed, shown, delivered, typed and run", async () => {
    const { items } = await story.evidence();
    expect(items.map(({ type }) => type)).toEqual(path);
    const [proposed, sent, , granted, , executed] = items;
    expect(proposed).toMatchObject({ notice: storyNotice, tool: "praxis_crear_record" });
    expect(proposed).not.toHaveProperty("args");
    expect(sent).toMatchObject({ ref: expect.any(String) });
    expect(granted).toMatchObject({ words: "dale", message: expect.any(String), sentAt: expect.any(Number) });
    expect(executed).toMatchObject({ result: expect.any(String) });
    const deliveries = (await story.evidence("&all=true")).items.filter(({ type }) => type === "delivery");
    expect(deliveries.map(({ state }) => state)).toEqual(["queued", "sending", "accepted"]);
  });

  it("is exported while Dale runs, verified with the public key alone, and any change is found", async () => {
    const { dir } = story.place;
    const key = await story.run("key");
    expect(key.output).toContain("BEGIN PUBLIC KEY");
    await writeFile(join(dir, "public.pem"), key.output);
    expect(await story.run("export", "--out", "all.jsonl")).toEqual({ code: 0, output: "" });
    expect((await story.evidence()).items.map(({ type }) => type)).toEqual(path);

    const whole = await story.run("verify", "all.jsonl", "--key", "public.pem");
    expect(whole).toMatchObject({ code: 0, output: expect.stringContaining("Nothing was altered") });
    const text = await readFile(join(dir, "all.jsonl"), "utf8");
    expect(text).toContain(JSON.stringify('{"cuotas":3,"entidad":"cob_acuerdo","monto":184000}'));
    await writeFile(join(dir, "changed.jsonl"), text.replace('"words":"dale"', '"words":"Dale"'));
    const changed = await story.run("verify", "changed.jsonl", "--key", "public.pem");
    expect(changed).toMatchObject({ code: 1, output: expect.stringContaining("content_altered") });
    await writeFile(join(dir, "bytes.jsonl"), Buffer.from(text.replace("dale", "d\u00e9le"), "latin1"));
    expect(await story.run("verify", "bytes.jsonl", "--key", "public.pem")).toMatchObject({ code: 1 });
    expect(await story.run("verify", "all.jsonl")).toMatchObject({ code: 2 });
    expect(await story.run("verify", "all.jsonl", "--key", "dale.yaml")).toMatchObject({ code: 2 });
    expect(await story.run("verify")).toMatchObject({ code: 0 });

    const head = (await story.run("head")).output.split("\n")[0] ?? "";
    expect(await story.run("verify", "all.jsonl", "--key", "public.pem", "--head", head)).toMatchObject({ code: 0 });
    const later = head.replace(/^\d+/, "999");
    expect(await story.run("verify", "all.jsonl", "--key", "public.pem", "--head", later)).toMatchObject({ code: 1 });
  });

  it("is a page that a lawyer can read, and a table", async () => {
    const { dir } = story.place;
    const html = ["--format", "html", "--proposal", story.proposal, "--out", "page.html"];
    expect(await story.run("export", ...html)).toEqual({ code: 0, output: "" });
    const page = await readFile(join(dir, "page.html"), "utf8");
    expect(page).toContain("Constancia de consentimiento");
    expect(page).toContain(storyNotice);
    expect(page).toContain("nada fue alterado");
    const missing = { code: 2, output: expect.stringMatching(/^error: .*--proposal ID is missing/) };
    expect(await story.run("export", "--format", "html")).toMatchObject(missing);
    expect(await story.run("export", "--format", "html", "--proposal", "nobody's")).toMatchObject({ code: 1 });
    expect((await story.run("export", "--format", "csv")).output.split("\r\n")[0]).toMatch(/^at,type,session,proposal/);
  });

  it("is complete after Dale was killed and started again", async () => {
    await dale.kill();
    dale = await story.place.start();
    const { items, complete } = await story.evidence();
    expect(items.map(({ type }) => type)).toEqual(path);
    expect(complete).toBeUndefined();
  });

  it("is read by the command alone when Dale does not run, and erased on demand", async () => {
    await dale.stop();
    expect((await story.run("export", "--session", story.session)).output).toContain('"words":"dale"');
    expect(await story.run("erase", "--session", story.session)).toMatchObject({ code: 0 });
    const after = await story.run("export");
    expect(after.output).not.toContain('"words"');
    expect(await story.run("verify")).toMatchObject({ code: 0, output: expect.stringContaining("erased") });
    dale = await story.place.start();
    expect((await story.evidence()).items).toEqual([]);
  });
});

describe("the evidence of several processes on one Redis", () => {
  const story = new Story();
  let redis: RedisServer;
  let front: Gateway;
  let worker: Gateway;
  beforeAll(async () => {
    redis = await startRedisServer();
    await story.open({ redis: { url: redis.url } });
    front = await story.place.start({ roles: "ingress,sender,http" });
    worker = await story.place.start({ roles: "worker" });
    await story.converse();
  });
  afterAll(async () => {
    await Promise.all([front.stop(), worker.stop()]);
    await story.close();
    await redis.remove();
  });

  it("is asked of the one that has the archive, and of the next one when that is killed", async () => {
    expect(await story.run("export", "--out", "all.jsonl")).toEqual({ code: 0, output: "" });
    expect((await story.evidence()).items.map(({ type }) => type)).toEqual(path);
    const second = await story.place.start({ roles: "worker", waitReady: false });
    await worker.kill();
    worker = second;
    const { items, complete } = await story.evidence();
    expect(items.map(({ type }) => type)).toEqual(path);
    expect(complete).toBeUndefined();
  });

  it("says that it is incomplete while nobody has the archive", async () => {
    await worker.kill();
    expect(await story.evidence()).toEqual({ items: [], complete: false });
    worker = await story.place.start({ roles: "worker" });
    expect((await story.evidence()).items.map(({ type }) => type)).toEqual(path);
  });
});

const postgres = findPostgres();
describe.skipIf("reason" in postgres)(
  `the evidence in PostgreSQL${"reason" in postgres ? ` (not here: ${postgres.reason})` : ""}`,
  () => {
    const story = new Story();
    let redis: RedisServer;
    let server: TestPostgres;
    let front: Gateway;
    beforeAll(async () => {
      if ("reason" in postgres) return;
      [redis, server] = await Promise.all([startRedisServer(), startPostgres(postgres.programs)]);
      await story.open({ redis: { url: redis.url }, evidence: { url: await server.database() } });
      front = await story.place.start();
      await story.converse();
    });
    afterAll(async () => {
      await front.stop();
      await story.close();
      await redis.remove();
      await server.stop();
    });

    it("is moved by a worker, and read by every process by itself", async () => {
      const metrics = async () => {
        const { url, token } = story.place;
        const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
        return await response.text();
      };
      expect(await metrics()).toMatch(/^dale_evidence_waiting_seconds \d/m);
      await eventually(async () => /^dale_evidence_waiting_sessions 0$/m.test(await metrics()) || undefined);
      expect((await story.evidence()).items.map(({ type }) => type)).toEqual(path);
      expect(await story.run("verify")).toMatchObject({ code: 0 });
      await front.stop();
      front = await story.place.start({ roles: "http" });
      const { items, complete } = await story.evidence();
      expect(items.map(({ type }) => type)).toEqual(path);
      expect(complete).toBeUndefined();
    });
  },
);
