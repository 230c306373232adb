import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../../src/app/config/index.js";
import { folder } from "../../fixtures/folder.js";
import { load } from "./files.js";

const env = {
  REDIS_URL: "redis://:pw@redis.example.com:6379/2",
  TELEGRAM_BOT_TOKEN: "123456:AAbb-cc_dd",
  WA_TOKEN: "wa-token",
  WA_SECRET: "wa-secret",
  WA_VERIFY: "wa-verify",
  DALE_TOKEN: "console-token",
};

describe("dale.yaml", () => {
  it("may be empty: everything has a default", async () => {
    for (const text of ["", "# nothing\n", "channels:\nhttp:\n"]) {
      const { root, config, found } = await load(text);
      expect(found).toEqual([]);
      expect(config).toEqual({
        file: join(root, "dale.yaml"),
        dataDir: join(root, ".dale"),
        shards: 1,
        roles: ["ingress", "worker", "sender", "http"],
        gate: {
          locale: "es-AR",
          ttlMs: 600_000,
          resume: "runtime",
          receiptWaitMs: 3000,
          tolerate: [],
          delivered: {},
        },
        channels: [],
        http: { host: "127.0.0.1", port: 8080 },
        egress: { allow: [] },
        evidence: {},
        media: { maxBytes: 10_485_760 },
        log: { level: "info" },
      });
    }
  });

  it("is read as the design shows it, variables within { … } and all", async () => {
    const { root, config, found } = await load(
      `redis: { url: \${REDIS_URL} }          # left out: a private redis-server
data_dir: .dale
agents: agents/
integrations: integrations/
connections: connections.yaml
policies: policies.yaml
gate: { locale: es-AR, ttl: 10m, resume: runtime, receipt_wait: 3s, words: [si, dale], tolerate: [final_punctuation, invisible], delivered: { telegram: accepted } }
channels:
  telegram:       [{ name: bot,  agent: cobranzas, token: \${TELEGRAM_BOT_TOKEN}, api_root: https://api.telegram.org, mode: polling, limits: { account: 30/s, chat: 1/s } }]
  whatsapp:       [{ name: shop, agent: cobranzas }]
  whatsapp_cloud: [{ name: main, agent: cobranzas, phone_number_id: "1", access_token: \${WA_TOKEN}, app_secret: \${WA_SECRET}, verify_token: \${WA_VERIFY}, graph_url: https://graph.facebook.com/v25.0 }]
  webchat:        [{ name: web,  agent: cobranzas }]
http: { host: 127.0.0.1, port: 8080, token: \${DALE_TOKEN} }
egress: { allow: [] }
`,
      env,
      {
        "agents/x": "",
        "integrations/x": "",
        "connections.yaml": "",
        "policies.yaml": "",
      },
    );
    expect(found).toEqual([]);
    expect(config).toMatchObject({
      redis: { url: env.REDIS_URL },
      agents: join(root, "agents"),
      integrations: join(root, "integrations"),
      connections: join(root, "connections.yaml"),
      policies: join(root, "policies.yaml"),
      gate: {
        words: ["si", "dale"],
        tolerate: ["final_punctuation", "invisible"],
        delivered: { telegram: "accepted" },
      },
      http: { host: "127.0.0.1", port: 8080, token: env.DALE_TOKEN },
    });
    expect(config?.channels).toEqual([
      {
        channel: "telegram",
        name: "bot",
        agent: "cobranzas",
        token: env.TELEGRAM_BOT_TOKEN,
        apiRoot: "https://api.telegram.org",
        receive: { mode: "polling", replaceWebhook: false },
        limits: { account: { count: 30, perMs: 1000 }, chat: { count: 1, perMs: 1000 } },
        groups: "mentioned",
      },
      {
        channel: "whatsapp",
        name: "shop",
        agent: "cobranzas",
        encryptionKeys: [],
        pacing: "human",
        limits: {},
        groups: "mentioned",
      },
      {
        channel: "whatsapp_cloud",
        name: "main",
        agent: "cobranzas",
        phoneNumberId: "1",
        accessToken: "wa-token",
        appSecret: "wa-secret",
        verifyToken: "wa-verify",
        graphUrl: "https://graph.facebook.com/v25.0",
        limits: {},
        groups: "mentioned",
      },
      { channel: "webchat", name: "web", agent: "cobranzas", limits: {}, groups: "mentioned" },
    ]);
  });

  it("cannot be changed once it is loaded", async () => {
    const { config } = await load("channels: { webchat: [{ name: web, agent: a }] }\n");
    expect(() => Object.assign(config ?? {}, { shards: 2 })).toThrow(TypeError);
    expect(() => Object.assign(config?.channels[0] ?? {}, { agent: "b" })).toThrow(TypeError);
  });

  it("takes numbers from variables, and lets no variable add a key", async () => {
    const { config, found } = await load("http: { port: ${PORT}, host: ${HOST} }\nmedia: { max_bytes: ${N:-4096} }\n", {
      PORT: "9090",
      HOST: "127.0.0.1, token: x }\nshards: 9 #",
    });
    expect(config).toBeUndefined();
    expect(found).toEqual(['1 ‹${HOST}› error: "host" must be one line']);
    expect(
      (await load("http: { port: ${PORT} }\nmedia: { max_bytes: ${N:-4096} }\n", { PORT: "9090" })).config,
    ).toMatchObject({
      http: { port: 9090 },
      media: { maxBytes: 4096 },
    });
  });

  it("uses the usual folders where they are there, and insists on those that it names", async () => {
    const usual = await load("", {}, { "agents/x": "", "connections.yaml": "" });
    expect(usual.config).toMatchObject({
      agents: join(usual.root, "agents"),
      connections: join(usual.root, "connections.yaml"),
    });
    expect(usual.config).not.toHaveProperty("integrations");
    const named = await load("agents: bots/\nintegrations: dale.yaml\nconnections: bots\npolicies: ${NONE:-p.yaml}\n");
    expect(named.found).toEqual([
      "1 ‹bots/› error: there is no such folder: the path counts from this file's folder",
      "2 ‹dale.yaml› error: there is no such folder: the path counts from this file's folder",
      "3 ‹bots› error: there is no such file: the path counts from this file's folder",
      "4 ‹${NONE:-p.yaml}› error: there is no such file: the path counts from this file's folder",
    ]);
  });

  it("keeps absolute paths", async () => {
    const elsewhere = await folder({ "agents/x": "" });
    const { config } = await load(`agents: ${elsewhere}/agents\ndata_dir: ${elsewhere}/data\n`);
    expect(config).toMatchObject({ agents: join(elsewhere, "agents"), dataDir: join(elsewhere, "data") });
  });

  it.each([
    ["gate: { ttl: 1h }", { gate: { ttlMs: 3_600_000 } }],
    ["gate: { ttl: 1.5s, receipt_wait: 500ms }", { gate: { ttlMs: 1500, receiptWaitMs: 500 } }],
    ["gate: { receipt_wait: 0s }", { gate: { receiptWaitMs: 0 } }],
    ["evidence: { url: postgres://u:p@h/db, retention: 30d }", { evidence: { retentionMs: 2_592_000_000 } }],
    ["roles: [worker, worker]", { roles: ["worker"] }],
    ["egress: { allow: [localhost, 127.0.0.1:80, 10.1.0.0/16, '[::1]:8080', 'fd00::/8'] }", {}],
    [
      "media: { max_bytes: 5, transcription: { endpoint: http://h/v1/, model: whisper-1, language: es } }",
      { media: { maxBytes: 5, transcription: { endpoint: "http://h/v1", model: "whisper-1", language: "es" } } },
    ],
    ["http: { host: 0.0.0.0, token: t }", { http: { host: "0.0.0.0", token: "t" } }],
    ["http: { host: '::1' }", { http: { host: "::1" } }],
  ])("takes %s", async (text, expected) => {
    const { config, found } = await load(`${text}\n`);
    expect(found).toEqual([]);
    expect(config).toMatchObject(expected);
  });

  it.each([
    ["gate: { ttl: 10 }", '‹10› error: "ttl" must be a duration with its unit (ms, s, m, h or d), for example 10m'],
    ["gate: { ttl: 10 min }", '‹10› error: "ttl" must be a duration with its unit (ms, s, m, h or d), for example 10m'],
    ["gate: { ttl: 2d }", '‹2d› error: "ttl" must be from 1s to 1d'],
    ["gate: { tll: 2d }", '‹tll› error: unknown key "tll": did you mean "ttl"?'],
    ["gate: { locale: fr }", '‹fr› error: "locale" must be es-AR, es, pt-BR or en'],
    [
      "gate: { words: [] }",
      "‹[› error: The list of words is empty: nobody could confirm anything. Write for example [si, dale].",
    ],
    [
      "gate: { words: [dale, de una] }",
      "‹de› error: this word cannot be a word of consent: it is more than one word, and a phrase is never a confirmation.",
    ],
    ["gate: { words: [dale, no] }", "‹no› error: this word cannot be a word of consent: people say it to refuse."],
    [
      "gate: { delivered: { telegram: queued } }",
      '‹queued› error: "telegram" must be accepted: Telegram reports no delivery, so nothing could ever be confirmed',
    ],
    [
      "gate: { delivered: { webchat: accept } }",
      '‹accept› error: "webchat" must be accepted, delivered or read: did you mean accepted?',
    ],
    ["gate: { tolerate: [emoji] }", '‹emoji› error: entry 1 of "tolerate" must be final_punctuation or invisible'],
    [
      "redis: { url: http://h }",
      '‹http› error: "url" must be a redis:// or rediss:// URL, for example redis://127.0.0.1:6379',
    ],
    ["redis: {}", '‹redis› error: "url" is missing: write for example url: redis://127.0.0.1:6379'],
    [
      "roles: [workers]",
      '‹workers› error: entry 1 of "roles" must be ingress, worker, sender or http: did you mean worker?',
    ],
    ["roles: []", '‹[› error: "roles" must not be empty'],
    [
      "shards: 4",
      '‹4› error: "shards" must be 1: sessions are not spread over a Redis Cluster yet, one Redis holds them all',
    ],
    ["http: { port: 70000 }", '‹70000› error: "port" must be at most 65535'],
    ["http: { port: eighty }", '‹eighty› error: "port" must be a number, for example 8080'],
    [
      "http: { host: 0.0.0.0 }",
      "‹0.0.0.0› error: reaches beyond this machine, so the API needs a token: add token: ${DALE_TOKEN} under http, or write host: 127.0.0.1",
    ],
    [
      "http: { host: localhost.example.com }",
      expect.stringMatching(/^1 ‹localhost\.example\.com› error: reaches beyond/),
    ],
    [
      "egress: { allow: [http://h] }",
      '‹http› error: entry 1 of "allow" must be a host, host:port or network, for example 127.0.0.1:9100 or 10.1.0.0/16',
    ],
    [
      "evidence: { url: mysql://h }",
      '‹mysql› error: "url" must be a postgres:// or postgresql:// URL, for example postgres://dale@127.0.0.1/dale',
    ],
    ["channels: { telegramm: [] }", '‹telegramm› error: unknown key "telegramm": did you mean "telegram"?'],
    ["channels: [a]", '‹[a› error: "channels" must be a mapping (key: value)'],
    ["- a", "‹-› error: the file must be a mapping (key: value)"],
    ["just text", "‹just› error: the file must be a mapping (key: value)"],
  ])("refuses %s", async (text, expected) => {
    const { config, found } = await load(`${text}\n`);
    expect(config).toBeUndefined();
    expect(found).toEqual([typeof expected === "string" ? `1 ${expected}` : expected]);
  });

  it("tells of several mistakes at once", async () => {
    const { found } = await load("gate: { ttl: 1 }\nhttp: { prt: 1 }\nchannels: { webchat: [{ name: Web }] }\n");
    expect(found).toHaveLength(4);
  });

  it("tells that it is not there", async () => {
    const root = await folder({});
    expect(await loadConfig(join(root, "dale.yaml"), {})).toEqual({
      ok: false,
      problems: [
        {
          file: join(root, "dale.yaml"),
          line: 1,
          column: 1,
          severity: "error",
          message: "there is no such file: check the path",
        },
      ],
    });
  });

  it("tells of a variable that is not set at its place", async () => {
    expect((await load("redis: { url: ${REDIS_URL} }\n")).found).toEqual([
      "1 ‹${REDIS_URL}› error: the environment has no variable REDIS_URL: set it, or write ${REDIS_URL:-default}",
    ]);
  });
});
