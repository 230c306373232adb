import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createWhatsappAdapter } from "../../../adapters/whatsapp/index.js";
import { createTestHost } from "../../fixtures/channel-host.js";
import {
  createWhatsappRig,
  link,
  quickTiming,
  until,
  type WhatsappProcess,
  type WhatsappRig,
} from "../../fixtures/whatsapp.js";

let rig: WhatsappRig;
beforeEach(async () => {
  rig = await createWhatsappRig();
});
afterEach(() => rig.close());

const logins = () => rig.web.logins.length;
const isOpen = ({ adapter }: WhatsappProcess) =>
  until(
    () => adapter.status().state === "open",
    () => adapter.status(),
  );

describe("pairing", () => {
  it("shows a code to scan from the start, and is open after it was scanned", async () => {
    const { adapter, host } = rig.process();
    await adapter.start();
    await until(() => adapter.status().qr !== undefined);
    expect(adapter.status()).toMatchObject({ state: "unpaired" });
    await link(rig.web, adapter);
    expect(rig.web.logins).toEqual(["register", "login"]);
    expect(adapter.status().qr).toBeUndefined();
    expect(host.logs.filter(({ message }) => message.includes("may ban its number"))).toHaveLength(1);
  });

  it("warns of the risk once, not at every start", async () => {
    const first = await rig.opened();
    await first.adapter.stop();
    const second = rig.process();
    await second.adapter.start();
    await isOpen(second);
    expect(second.host.logs.some(({ message }) => message.includes("may ban its number"))).toBe(false);
  });

  it("by a code to type, in place of one to scan", async () => {
    const { adapter } = rig.process();
    await adapter.start();
    const code = await adapter.requestPairingCode("+1 (555) 100-0000");
    expect(code).toMatch(/^[0-9A-Z]{8}$/);
    expect(adapter.status()).toMatchObject({ state: "unpaired", pairingCode: code });
    await rig.web.enterCode(code);
    await until(
      () => adapter.status().state === "open",
      () => adapter.status(),
    );
    expect(rig.web.logins).toEqual(["register", "login"]);
  });

  it("that was broken off begins anew: a code that was asked for is no link", async () => {
    const first = rig.process();
    await first.adapter.start();
    await first.adapter.requestPairingCode("15551000000");
    rig.web.cut();
    await until(() => logins() === 2);
    expect(rig.web.logins).toEqual(["register", "register"]);
    await first.adapter.stop();
    const second = rig.process();
    await second.adapter.start();
    await link(rig.web, second.adapter);
    expect(rig.web.logins.filter((kind) => kind === "login")).toHaveLength(1);
  });

  it("is refused where it makes no sense, in words", async () => {
    const opened = await rig.opened();
    const refused = (message: RegExp) =>
      expect.objectContaining({ code: "pairing_failed", message: expect.stringMatching(message) });
    await expect(opened.adapter.requestPairingCode("15551000000")).rejects.toEqual(refused(/linked already/));
    await expect(opened.adapter.requestPairingCode("call me")).rejects.toEqual(refused(/country code/));
    await expect(opened.adapter.beginPairing()).rejects.toEqual(refused(/linked already/));
    const idle = rig.process();
    await expect(idle.adapter.beginPairing()).rejects.toEqual(refused(/does not receive/));
    await idle.adapter.start();
    await until(() => idle.adapter.status().state === "reconnecting");
    await expect(idle.adapter.beginPairing()).rejects.toEqual(expect.objectContaining({ code: "lease_lost" }));
  });

  it("ends when nobody scans any of the codes, and begins again when it is asked for", async () => {
    const { adapter } = rig.process({ timing: { ...quickTiming, qr: 60 } });
    const codes = new Set<string>();
    await adapter.start();
    await until(
      () => {
        const { qr, state } = adapter.status();
        if (qr !== undefined) codes.add(qr);
        return state === "unpaired" && qr === undefined;
      },
      () => adapter.status(),
    );
    expect(codes.size).toBeGreaterThan(3);
    expect(adapter.status().reason).toMatch(/Nobody scanned the code in time\. Run dale pair whatsapp:shop/);
    await sleep(100);
    expect(rig.web.logins).toEqual(["register"]);
    await adapter.beginPairing();
    await link(rig.web, adapter);
    expect(rig.web.logins).toEqual(["register", "register", "login"]);
  });

  it("goes on with the next code when the connection is lost meanwhile", async () => {
    const { adapter } = rig.process();
    await adapter.start();
    await until(() => adapter.status().qr !== undefined);
    const { qr } = adapter.status();
    rig.web.cut();
    await until(
      () => adapter.status().qr !== undefined && adapter.status().qr !== qr,
      () => adapter.status(),
    );
    await link(rig.web, adapter);
  });
});

describe("a connection that ends", () => {
  it.each([
    ["428, a lost connection", () => rig.web.cut()],
    ["503", () => rig.web.streamError(503)],
    ["500, which may be anything", () => rig.web.streamError(undefined, { tag: "xml-not-well-formed", attrs: {} })],
    ["515", () => rig.web.streamError(515)],
    ["an end of the stream", () => rig.web.stanza({ tag: "xmlstreamend", attrs: {} })],
  ])("with %s begins again, with the same link", async (_, end) => {
    const opened = await rig.opened();
    const before = logins();
    end();
    await until(() => logins() === before + 1);
    await isOpen(opened);
    expect(rig.web.logins.at(-1)).toBe("login");
    const ana = rig.web.contact();
    await ana.writes("still there?");
    await until(() => opened.host.received.length === 1);
  });

  it("because WhatsApp is silent begins again", async () => {
    const opened = await rig.opened({ timing: { ...quickTiming, keepAlive: 300 } });
    rig.web.faults.deaf = true;
    await until(
      () => opened.adapter.status().state === "reconnecting",
      () => opened.adapter.status(),
    );
    rig.web.faults.deaf = false;
    await isOpen(opened);
  });

  it("at a login that WhatsApp refuses for now is tried again, more and more slowly", async () => {
    const opened = await rig.opened();
    rig.web.faults.loginFailure = 503;
    rig.web.cut();
    await until(() => opened.host.logs.filter(({ fields }) => fields.code === 503).length >= 3);
    expect(opened.adapter.status().state).toBe("reconnecting");
    rig.web.faults.loginFailure = undefined;
    await isOpen(opened);
  });
});

describe("what only a person can put right", () => {
  async function endsWith(code: number): Promise<WhatsappProcess> {
    const opened = await rig.opened();
    rig.web.faults.loginFailure = code;
    rig.web.cut();
    await until(
      () => opened.adapter.status().state === "stopped",
      () => opened.adapter.status(),
    );
    return opened;
  }

  it.each([
    [402, /banned this account for some time/],
    [403, /banned, locked, or its phone was logged out/],
    [406, /banned, locked/],
    [411, /does not allow linked devices/],
  ])("%i stops the account, and says what to do", async (code, words) => {
    const { adapter, host } = await endsWith(code);
    expect(adapter.status().reason).toMatch(words);
    expect(host.logs.some(({ level }) => level === "error")).toBe(true);
    const before = host.logs.length;
    await sleep(150);
    expect(host.logs).toHaveLength(before);
  });

  it("405 is tried some times, and then stops the account", async () => {
    const { adapter, host } = await endsWith(405);
    expect(adapter.status().reason).toMatch(/update Dale/);
    expect(host.logs.filter(({ fields }) => fields.code === 405 && fields.next === "reconnect")).toHaveLength(4);
  });

  it("a refused account can be linked anew", async () => {
    const { adapter } = await endsWith(403);
    rig.web.faults.loginFailure = undefined;
    await adapter.beginPairing();
    await link(rig.web, adapter);
    expect(rig.web.logins.at(-2)).toBe("register");
  });

  it("a logout on the phone stops the account, says when it was, and it can be paired again", async () => {
    const opened = await rig.opened();
    rig.web.logOut();
    await until(() => opened.adapter.status().state === "stopped");
    expect(opened.adapter.status().reason).toMatch(
      /^Logged out on the phone on \d{4}-\d\d-\d\d \d\d:\d\d UTC: pair again\. Run dale pair whatsapp:shop/,
    );
    const kept = await rig.store.fenced.keys("g1:creds");
    expect(kept).toEqual(["g1:creds"]);
    const before = logins();
    await sleep(100);
    expect(logins()).toBe(before);

    await opened.adapter.beginPairing();
    await until(() => opened.adapter.status().qr !== undefined);
    expect(opened.adapter.status().reason).toMatch(/^Logged out on the phone/);
    await link(rig.web, opened.adapter);
    const ana = rig.web.contact();
    await ana.writes("hello again");
    await until(() => opened.host.received.length === 1);
  });

  it("a logout while nobody was there is found out at the next start", async () => {
    const first = await rig.opened();
    await first.adapter.stop();
    rig.web.logOut();
    const second = rig.process();
    await second.adapter.start();
    await until(() => second.adapter.status().state === "stopped");
    expect(second.adapter.status().reason).toMatch(/Logged out on the phone/);
    await second.adapter.stop();
    const third = rig.process();
    await third.adapter.start();
    await until(() => third.adapter.status().qr !== undefined);
    expect(third.adapter.status().reason).toMatch(/Logged out on the phone on .*: pair again/);
  });
});

describe("safety", () => {
  it("does not connect where anybody could pose as WhatsApp", async () => {
    const { host } = createTestHost();
    const options = { name: "shop", groups: "always", encryptionKeys: [], pacing: "off" } as const;
    const adapter = createWhatsappAdapter(options, host, { env: { NODE_TLS_REJECT_UNAUTHORIZED: "0" } });
    await adapter.start();
    expect(adapter.status()).toMatchObject({ state: "stopped" });
    expect(adapter.status().reason).toMatch(/NODE_TLS_REJECT_UNAUTHORIZED/);
    expect(() => createWhatsappAdapter({ ...options, socketUrl: "wss://evil.example/ws/chat" }, host)).toThrow(
      /this machine/,
    );
    expect(() => createWhatsappAdapter({ ...options, socketUrl: "ws://127.0.0.1.evil.example/" }, host)).toThrow();
  });
});
