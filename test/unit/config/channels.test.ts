import { describe, expect, it } from "vitest";
import { load } from "./files.js";

const channel = (kind: string, ...accounts: readonly string[]) =>
  load(`channels:\n  ${kind}:\n${accounts.map((account) => `    - { ${account} }\n`).join("")}`);
const bot = "name: bot, agent: a, token: 123:abc";
const cloud = 'name: main, agent: a, phone_number_id: "1", access_token: t, app_secret: s, verify_token: v';
const key = Buffer.alloc(32, 7).toString("base64");

describe("accounts of channels", () => {
  it("are webhooks only with a secret, and with a URL where they are to be set", async () => {
    expect((await channel("telegram", `${bot}, mode: webhook`)).found).toEqual([
      "3 ‹webhook› error: a webhook without secret_token would believe everybody: add secret_token: ${TELEGRAM_SECRET}, or write mode: polling",
    ]);
    const hook = await channel(
      "telegram",
      `${bot}, mode: webhook, secret_token: s_1, url: "https://bots.example.com/"`,
    );
    expect(hook.config?.channels[0]).toMatchObject({
      receive: { mode: "webhook", secretToken: "s_1", url: "https://bots.example.com" },
    });
    const polling = await channel("telegram", `${bot}, secret_token: s_1`);
    expect(polling.found).toEqual([
      "3 ‹secret_token› warning: secret_token belongs to mode: webhook, and this account polls",
    ]);
    expect(polling.config?.channels[0]).toMatchObject({ receive: { mode: "polling" } });
  });

  it("have limits, or none at all for a load test", async () => {
    const limits = async (text: string) =>
      (await channel("webchat", `name: w, agent: a, limits: ${text}`)).config?.channels[0]?.limits;
    expect(await limits("off")).toEqual({ account: "off", chat: "off", group: "off" });
    expect(await limits("{ account: off, chat: 20/m, group: 100/h }")).toEqual({
      account: "off",
      chat: { count: 20, perMs: 60_000 },
      group: { count: 100, perMs: 3_600_000 },
    });
  });

  it.each([
    [
      "telegram",
      "name: bot, agent: a",
      '‹{› error: "token" is missing: write for example token: ${TELEGRAM_BOT_TOKEN}',
    ],
    [
      "telegram",
      "name: Bot, agent: a, token: t",
      '‹Bot› error: "name" must be lower-case letters, digits, “-” and “_”, 63 at most, for example bot',
    ],
    [
      "telegram",
      "name: a:b, agent: a, token: t",
      '‹a› error: "name" must be lower-case letters, digits, “-” and “_”, 63 at most, for example bot',
    ],
    [
      "telegram",
      `${bot}, api_root: ftp://h`,
      '‹ftp› error: "api_root" must be a https:// or http:// URL without user, query and fragment, for example https://api.telegram.org',
    ],
    ["telegram", `${bot}, mode: pol`, '‹pol› error: "mode" must be polling or webhook'],
    ["telegram", `${bot}, mode: webhok`, '‹webhok› error: "mode" must be polling or webhook: did you mean webhook?'],
    ["telegram", `${bot}, limits: { chat: fast }`, '‹fast› error: "chat" must be a rate or off, for example 1/s'],
    [
      "telegram",
      `${bot}, limits: 5`,
      '‹5› error: "limits" must be off, or rates, for example { account: 30/s, chat: 1/s }',
    ],
    ["telegram", `${bot}, groups: all`, '‹all› error: "groups" must be mentioned, always or never'],
    [
      "whatsapp",
      "name: s, agent: a, socket_url: wss://web.whatsapp.com/ws",
      '‹wss› error: "socket_url" must be a ws:// URL of this machine (127.0.0.1, [::1] or localhost), for example ws://127.0.0.1:9300/ws/chat',
    ],
    [
      "whatsapp",
      "name: s, agent: a, socket_url: ws://127.0.0.1.example.com/ws",
      '‹ws› error: "socket_url" must be a ws:// URL of this machine (127.0.0.1, [::1] or localhost), for example ws://127.0.0.1:9300/ws/chat',
    ],
    [
      "whatsapp",
      "name: s, agent: a, encryption_keys: [short]",
      '‹short› error: entry 1 of "encryption_keys" must be 32 random bytes in base64: make one with openssl rand -base64 32',
    ],
    [
      "whatsapp_cloud",
      cloud.replace(", app_secret: s", ""),
      '‹{› error: "app_secret" is missing: write for example app_secret: ${WA_SECRET}',
    ],
    ["whatsapp_cloud", cloud.replace('"1"', "1"), '‹1› error: "phone_number_id" must be text, for example "1065…"'],
    [
      "whatsapp_cloud",
      `${cloud}, graph_url: graph.facebook.com`,
      '‹graph.facebook.com› error: "graph_url" must be a https:// or http:// URL without user, query and fragment, for example https://graph.facebook.com/v25.0',
    ],
    ["webchat", "name: w", '‹{› error: "agent" is missing: write for example agent: cobranzas'],
  ])("are refused: %s with %s", async (kind, account, expected) => {
    const { config, found } = await channel(kind, account);
    expect(config).toBeUndefined();
    expect(found).toEqual([`3 ${expected}`]);
  });

  it("have names of their own within a channel, bots and numbers of their own", async () => {
    expect((await channel("webchat", "name: w, agent: a", "name: w, agent: b")).found).toEqual([
      "4 ‹w› error: two accounts of this channel have this name: give one another name",
    ]);
    expect((await channel("telegram", bot, bot.replace("bot", "bot2"))).found).toEqual([
      "4 ‹123› error: two accounts have this bot's token: a bot is one account, so drop one",
    ]);
    expect((await channel("whatsapp_cloud", cloud, cloud.replace("main", "two"))).found).toEqual([
      '4 ‹"1"› error: two accounts have this number: drop one',
    ]);
    const same = await load("channels: { webchat: [{ name: w, agent: a }], whatsapp: [{ name: w, agent: a }] }\n");
    expect(same.found).toEqual([]);
  });

  it("may point to stand-ins of their platforms", async () => {
    const { config, found } = await load(`channels:
  telegram: [{ ${bot}, api_root: "http://127.0.0.1:8081/" }]
  whatsapp: [{ name: s, agent: a, socket_url: "ws://[::1]:9300/ws/chat", encryption_keys: ["${key}"], pacing: off }]
  whatsapp_cloud: [{ ${cloud}, graph_url: "http://127.0.0.1:8082/v25.0", late_template: { name: again, language: es_AR } }]
`);
    expect(found).toEqual([]);
    expect(config?.channels).toMatchObject([
      { apiRoot: "http://127.0.0.1:8081" },
      { socketUrl: "ws://[::1]:9300/ws/chat", encryptionKeys: [key], pacing: "off" },
      { graphUrl: "http://127.0.0.1:8082/v25.0", lateTemplate: { name: "again", language: "es_AR" } },
    ]);
  });
});
