import { describe, expect, it } from "vitest";
import { whatsappOptions } from "../../../adapters/whatsapp/index.js";
import { personOf } from "../../../adapters/whatsapp/jid.js";

describe("an account's entry", () => {
  it("needs a name, and is careful by default", () => {
    expect(whatsappOptions.parse({ name: "shop" })).toEqual({
      name: "shop",
      groups: "mentioned",
      encryptionKeys: [],
      pacing: "human",
    });
  });

  it.each([
    "wss://web.whatsapp.com/ws/chat",
    "ws://10.0.0.1/",
    "ws://127.0.0.1.example/",
    "ws://localhost@evil/",
    "http://127.0.0.1/",
  ])("does not take %s for a server of this machine", (url) => {
    expect(whatsappOptions.safeParse({ name: "shop", socket_url: url }).success).toBe(false);
  });

  it.each(["ws://127.0.0.1:9300/ws/chat", "ws://localhost:1", "ws://[::1]:9300/ws"])("takes %s", (url) => {
    expect(whatsappOptions.parse({ name: "shop", socket_url: url }).socketUrl).toBe(url);
  });

  it("takes keys of 32 bytes, and no others", () => {
    const key = (bytes: number) => Buffer.alloc(bytes, 1).toString("base64");
    expect(whatsappOptions.safeParse({ name: "shop", encryption_keys: [key(32)] }).success).toBe(true);
    expect(whatsappOptions.safeParse({ name: "shop", encryption_keys: [key(31)] }).success).toBe(false);
    expect(whatsappOptions.safeParse({ name: "shop", encryption_keys: ["hunter2"] }).success).toBe(false);
  });
});

describe("a person's address", () => {
  it.each([
    ["15551000001@s.whatsapp.net", "15551000001@s.whatsapp.net"],
    ["15551000001:7@s.whatsapp.net", "15551000001@s.whatsapp.net"],
    ["15551000001:0@s.whatsapp.net", "15551000001@s.whatsapp.net"],
    ["15551000001@c.us", "15551000001@s.whatsapp.net"],
    ["15551000001:99@hosted", "15551000001@s.whatsapp.net"],
    ["900000000000001:3@lid", "900000000000001@lid"],
    ["900000000000001:99@hosted.lid", "900000000000001@lid"],
    ["120363000000000001@g.us", undefined],
    ["status@broadcast", undefined],
    ["1203630@newsletter", undefined],
    ["867051314767696@bot", undefined],
    ["", undefined],
    [undefined, undefined],
    ["no such chat", undefined],
  ])("%s is %s", (jid, person) => {
    expect(personOf(jid)).toBe(person);
  });
});
