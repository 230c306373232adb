import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type {
  ChannelAdapter,
  InboundMessage,
  OutboundMessage,
  Provenance,
  SendResult,
} from "../../src/channels/index.js";
import { DaleError } from "../../src/errors/index.js";
import { createTestHost, type TestHost } from "../fixtures/channel-host.js";

/** What the driver's platform cannot do, or does not do in this mode: each skip names its reason. */
export type Behaviour =
  | "groups"
  | "quotes"
  | "forwards"
  | "captions"
  | "voice"
  | "edits"
  | "reactions"
  | "buttons"
  | "echoes"
  | "overhears"
  | "redelivery"
  | "backlog"
  | "unacknowledged"
  | "standby"
  | "order"
  | "receipts"
  | "refused"
  | "rate_limited"
  | "broken"
  | "silent"
  | "cut"
  | "unreachable"
  | "attachments";

/** What the platform does to the next send, and only to that one. */
export type SendFault =
  /** Says that it will never reach that person. */
  | "refused"
  /** Says "too fast". */
  | "rate_limited"
  /** Answers with a failure of its own, having taken nothing. */
  | "broken"
  /** Takes the message, and never answers. */
  | "silent"
  /** Takes the message, and cuts the connection instead of answering. */
  | "cut"
  /** Cannot be reached. */
  | "unreachable";

/** What a person does other than to type a message. */
export type PersonMove =
  /** Passes on somebody else's message with that text. */
  | { readonly kind: "forwards"; readonly text: string }
  /** Sends a picture with that caption. */
  | { readonly kind: "captions"; readonly text: string }
  | { readonly kind: "records" }
  /** Changes their last message to that text. */
  | { readonly kind: "edits"; readonly text: string }
  | { readonly kind: "reacts" }
  /** Presses a button whose label is that text. */
  | { readonly kind: "presses"; readonly text: string }
  /** The account's own phone, or the bot itself, says so. */
  | { readonly kind: "echoes"; readonly text: string };

export interface SentMessage {
  readonly chat: string;
  readonly text: string;
  /** What the adapter's result should have called it. */
  readonly ref: string;
  readonly replyTo?: string;
}

export interface Person {
  readonly chat: string;
  readonly sender: string;
  readonly group: boolean;
}

/** One fake platform, with one account that is allowed to talk to it. */
export interface ChannelRig {
  /** An adapter of that account. Its own timeouts are set to some hundred milliseconds. */
  adapter(host: TestHost): ChannelAdapter;
  /** Two people in chats of their own. */
  readonly people: readonly [Person, Person];
  /** Two people in one group, where the platform has groups. */
  readonly members?: readonly [Person, Person];
  /** Strings that no log line, result or error may hold: tokens, phone numbers. */
  readonly secrets: readonly string[];
  /** Resolves when the platform has it. In a group it is addressed to the account, as the group's policy asks. */
  personSends(text: string, options?: { readonly person?: Person; readonly quotes?: string }): Promise<void>;
  personMoves(move: PersonMove): Promise<void>;
  /** The platform delivers the person's last message once more. */
  redeliver(): Promise<void>;
  /** All that the platform has taken from the account, oldest first. */
  sent(): readonly SentMessage[];
  fault(fault: SendFault): Promise<void>;
  /** The platform reports that level for a message that was sent. */
  reports(ref: string, level: "delivered" | "read" | "failed"): Promise<void>;
  close(): Promise<void>;
}

export interface ChannelDriver {
  readonly title: string;
  readonly skips: Readonly<Partial<Record<Behaviour, string>>>;
  create(): Promise<ChannelRig>;
}

/** What every channel adapter keeps, whatever its platform. Call it at the top level of a test file. */
export function channelAdapterContract(driver: ChannelDriver): void {
  describe(`channel adapter: ${driver.title}`, () => {
    let rig: ChannelRig;
    let host: TestHost;
    let adapter: ChannelAdapter;
    const started: ChannelAdapter[] = [];

    const start = async (on: ChannelAdapter): Promise<ChannelAdapter> => {
      started.push(on);
      await on.start();
      return on;
    };
    const open = async (): Promise<void> => {
      await start(adapter);
      await until(
        () => adapter.status().state === "open",
        () => `status ${JSON.stringify(adapter.status())}`,
      );
    };
    const message = (text: string, to: Person = rig.people[0]): OutboundMessage => ({
      chat: to.chat,
      sender: to.sender,
      group: to.group,
      text,
      ...(adapter.capabilities.ownsIds && adapter.newId ? { id: adapter.newId() } : {}),
    });
    const sendAccepted = async (outbound: OutboundMessage): Promise<Extract<SendResult, { status: "accepted" }>> => {
      const result = await adapter.send(outbound);
      if (result.status !== "accepted") throw new Error(`not accepted: ${JSON.stringify(result)}`);
      return result;
    };
    const copies = (text: string): number => rig.sent().filter((sent) => sent.text === text).length;
    const only = (): InboundMessage => {
      expect(host.received).toHaveLength(1);
      const [first] = host.received;
      if (!first) throw new Error("nothing was received");
      return first;
    };
    /** Runs unless the platform has no such thing. */
    const can = (behaviour: Behaviour, title: string, body: () => Promise<void>): void => {
      const reason = driver.skips[behaviour];
      it(title, async ({ skip }) => {
        if (reason !== undefined) skip(reason);
        await body();
      });
    };

    beforeEach(async () => {
      rig = await driver.create();
      host = createTestHost();
      adapter = rig.adapter(host);
    });
    afterEach(async () => {
      await Promise.all(started.splice(0).map((one) => one.stop()));
      const told = JSON.stringify([host.logs, host.statuses, host.counts]);
      await rig.close();
      for (const secret of rig.secrets) expect(told).not.toContain(secret);
    });

    describe("capabilities", () => {
      it("hold together", () => {
        const { capabilities } = adapter;
        const rank = { accepted: 0, delivered: 1, read: 2 };
        expect(rank[capabilities.noticeLevel]).toBeLessThanOrEqual(rank[capabilities.receipts]);
        expect(capabilities.maxTextLength).toBeGreaterThan(0);
        expect(capabilities.limits.account.count).toBeGreaterThan(0);
        expect(capabilities.limits.chat.perMs).toBeGreaterThan(0);
        expect(typeof adapter.newId).toBe(capabilities.ownsIds ? "function" : "undefined");
        expect(typeof adapter.typing).toBe(capabilities.typing ? "function" : "undefined");
        expect(typeof adapter.markRead).toBe(capabilities.marksRead ? "function" : "undefined");
      });

      it("say how it goes: starting, open, stopped, each told to the host", async () => {
        expect(adapter.status().state).not.toBe("open");
        await open();
        expect(host.statuses.at(-1)?.state).toBe("open");
        expect(adapter.status().since).toBeLessThanOrEqual(host.host.now());
        await adapter.stop();
        expect(adapter.status().state).toBe("stopped");
        expect(host.statuses.at(-1)?.state).toBe("stopped");
      });

      it("lets itself be stopped twice, and before it was started", async () => {
        await adapter.stop();
        await open();
        await adapter.stop();
        await adapter.stop();
        expect(adapter.status().state).toBe("stopped");
      });
    });

    describe("receiving", () => {
      it("hands on what a person typed, exactly as it was typed", async () => {
        await open();
        const before = host.host.now();
        const text = "  Sí, señor — 👩‍👩‍👧 cafe\u0301 \u00a0*negrita* <b>_x_</b> {{y}}  ";
        await rig.personSends(text);
        await until(() => host.received.length > 0);
        const got = only();
        const [person] = rig.people;
        expect(got).toMatchObject({
          channel: adapter.channel,
          account: adapter.name,
          chat: person.chat,
          sender: person.sender,
          group: false,
          text: asPlatformKeeps(text, got.text),
          provenance: "typed",
          attachments: [],
        });
        expect(got.quotes).toBeUndefined();
        expect(got.id).not.toBe("");
        expect(got.receivedAt).toBeGreaterThanOrEqual(before);
        expect(got.receivedAt).toBeLessThanOrEqual(host.host.now());
        expect(Math.abs(got.sentAt - got.receivedAt)).toBeLessThan(10_000);
        expect(JSON.parse(JSON.stringify(got))).toEqual(got);
      });

      it("keeps the order in which they were typed, and gives each an id of its own", async () => {
        await open();
        const texts = Array.from({ length: 12 }, (_, index) => `message ${index}`);
        for (const text of texts) await rig.personSends(text);
        await until(() => host.received.length >= texts.length);
        expect(host.received.map((one) => one.text)).toEqual(texts);
        expect(new Set(host.received.map((one) => one.id)).size).toBe(texts.length);
      });

      it("tells people in different chats apart", async () => {
        await open();
        const [ana, beto] = rig.people;
        await rig.personSends("from Ana", { person: ana });
        await rig.personSends("from Beto", { person: beto });
        await until(() => host.received.length >= 2);
        const of = (person: Person) => host.received.find((one) => one.chat === person.chat)?.sender;
        expect(of(ana)).toBe(ana.sender);
        expect(of(beto)).toBe(beto.sender);
      });

      can("groups", "tells the members of a group apart", async () => {
        await open();
        const [ana, beto] = rig.members ?? [];
        if (!ana || !beto) throw new Error("the driver has no group: name the reason under skips");
        await rig.personSends("from Ana", { person: ana });
        await rig.personSends("from Beto", { person: beto });
        await until(() => host.received.length >= 2);
        expect(host.received.map((one) => [one.chat, one.sender, one.group])).toEqual([
          [ana.chat, ana.sender, true],
          [beto.chat, beto.sender, true],
        ]);
        expect(ana.chat).toBe(beto.chat);
      });

      can("quotes", "names the quoted message as `send` named it", async () => {
        await open();
        const sent = await sendAccepted(message("Para confirmar respondé SI."));
        await rig.personSends("si", { quotes: sent.ref });
        await until(() => host.received.length > 0);
        expect(only()).toMatchObject({ text: "si", provenance: "typed", quotes: sent.ref });
      });

      can("order", "places what people type and what it sent in one order", async () => {
        await open();
        await rig.personSends("before");
        await until(() => host.received.length === 1);
        const sent = await sendAccepted(message("in between"));
        await rig.personSends("after");
        await until(() => host.received.length === 2);
        const [before, after] = host.received.map((one) => one.order);
        expect(sent.order).toBeGreaterThan(before ?? Number.POSITIVE_INFINITY);
        expect(after).toBeGreaterThan(sent.order ?? Number.POSITIVE_INFINITY);
      });

      const news: readonly (readonly [Behaviour, PersonMove, Provenance])[] = [
        ["forwards", { kind: "forwards", text: "si" }, "forwarded"],
        ["captions", { kind: "captions", text: "si" }, "caption"],
        ["voice", { kind: "records" }, "transcript"],
      ];
      for (const [behaviour, move, provenance] of news) {
        can(behaviour, `hands on what a person ${move.kind}, and never as typed`, async () => {
          await open();
          await rig.personMoves(move);
          await until(() => host.received.length > 0);
          const got = only();
          expect(got.provenance).toBe(provenance);
          if (move.kind === "captions") {
            expect(got.text).toBe(move.text);
            expect(got.attachments[0]).toMatchObject({ kind: "image", caption: move.text });
          }
          if (move.kind === "records") expect(got.attachments[0]?.kind).toBe("voice");
        });
      }

      const noNews: readonly (readonly [Behaviour, PersonMove])[] = [
        ["edits", { kind: "edits", text: "si" }],
        ["reactions", { kind: "reacts" }],
        ["buttons", { kind: "presses", text: "si" }],
        ["echoes", { kind: "echoes", text: "si" }],
      ];
      for (const [behaviour, move] of noNews) {
        can(behaviour, `keeps to itself that a person ${move.kind}, and counts it`, async () => {
          await open();
          await rig.personSends("first");
          await until(() => host.received.length === 1);
          await rig.personMoves(move);
          await rig.personSends("last");
          await until(() => host.received.some((one) => one.text === "last"));
          expect(host.received.map((one) => one.text)).toEqual(["first", "last"]);
          await until(
            () => host.counts.length > 0,
            () => "nothing was counted",
          );
        });
      }

      can(
        "overhears",
        "tells where the account's own phone has written, and takes no message of ours for that",
        async () => {
          await open();
          await rig.personSends("first");
          await until(() => host.received.length === 1);
          const { chat, sender } = only();
          const id = adapter.newId?.();
          await adapter.send({ chat, sender, group: false, text: "ours", ...(id === undefined ? {} : { id }) });
          await rig.personMoves({ kind: "echoes", text: "¿Almorzamos?" });
          await rig.personSends("last");
          await until(() => host.received.some(({ text }) => text === "last"));
          const others = host.overheard.filter(({ id }) => rig.sent().every(({ ref }) => ref !== id));
          expect(others.map((each) => each.chat)).toEqual([chat]);
        },
      );

      can("edits", "tells which message of theirs a person has changed", async () => {
        await open();
        await rig.personSends("si");
        await until(() => host.received.length === 1);
        const { chat, sender, id } = only();
        await rig.personMoves({ kind: "edits", text: "no" });
        await until(
          () => host.retracted.length > 0,
          () => "nothing was taken back",
        );
        expect(host.retracted).toEqual([{ chat, sender, id }]);
      });

      can("redelivery", "gives a message that comes again the id that it had", async () => {
        await open();
        await rig.personSends("once");
        await until(() => host.received.length === 1);
        await rig.redeliver();
        await rig.personSends("and then");
        await until(() => host.received.length === 2);
        expect(host.received.map((one) => one.text)).toEqual(["once", "and then"]);
        await until(() => host.duplicates > 0);
      });

      can("unacknowledged", "loses nothing, repeats nothing and keeps the order while the store is away", async () => {
        await open();
        host.storeAway(true);
        for (const text of ["one", "two", "three"]) await rig.personSends(text);
        await until(() => host.refused > 0);
        expect(host.received).toEqual([]);
        host.storeAway(false);
        await until(() => host.received.length >= 3);
        expect(host.received.map((one) => one.text)).toEqual(["one", "two", "three"]);
        await until(() => adapter.status().state === "open");
      });

      can("backlog", "gets what was typed while it was away", async () => {
        await open();
        await adapter.stop();
        await rig.personSends("are you there?");
        const later = await start(rig.adapter(host));
        await until(() => host.received.length === 1);
        expect(only().text).toBe("are you there?");
        await until(() => later.status().state === "open");
      });

      can("backlog", "loses nothing when it is stopped before the store had it", async () => {
        await open();
        host.storeAway(true);
        await rig.personSends("dropped by nobody");
        await until(() => host.refused > 0);
        await adapter.stop();
        host.storeAway(false);
        await start(rig.adapter(host));
        await until(() => host.received.length === 1);
        expect(only().text).toBe("dropped by nobody");
      });

      it("hands on nothing after it was stopped", async () => {
        await open();
        await adapter.stop();
        await rig.personSends("too late").catch(() => undefined);
        await sleep(50);
        expect(host.received).toEqual([]);
      });

      can("standby", "stands by while another process receives, and takes over from it", async () => {
        await open();
        const second = await start(rig.adapter(host));
        await rig.personSends("for the first");
        await until(() => host.received.length === 1);
        expect(second.status()).toMatchObject({ state: "reconnecting" });
        expect(second.status().reason).toBeTruthy();
        await adapter.stop();
        await rig.personSends("for the second");
        await until(() => host.received.length === 2);
        expect(host.duplicates).toBe(0);
        expect(second.status().state).toBe("open");
      });

      can("attachments", "fetches an attachment's bytes, and no more of them than it was allowed", async () => {
        await open();
        await rig.personMoves({ kind: "captions", text: "look" });
        await until(() => host.received.length > 0);
        const [attachment] = only().attachments;
        if (!attachment || !adapter.fetchAttachment) throw new Error("no attachment, or no way to fetch it");
        const bytes = await adapter.fetchAttachment(attachment, 1_000_000);
        expect(bytes.byteLength).toBeGreaterThan(0);
        await expect(adapter.fetchAttachment(attachment, bytes.byteLength - 1)).rejects.toBeInstanceOf(DaleError);
        const { ref: _, ...without } = attachment;
        await expect(adapter.fetchAttachment(without, 1_000_000)).rejects.toBeInstanceOf(DaleError);
      });
    });

    describe("sending", () => {
      it("hands a text to the person exactly as it was given, and says what the platform called it", async () => {
        await open();
        const text = "*no* _formato_ `acá` <b>ni</b> [acá](http://x)\n\n👩‍👩‍👧 ¡Sí! \\ {{y}} ~tachado~";
        const outbound = message(text);
        const result = await sendAccepted(outbound);
        const [sent] = rig.sent();
        expect(sent).toMatchObject({ chat: rig.people[0].chat, text, ref: result.ref });
        if (outbound.id !== undefined) expect(result.ref).toBe(outbound.id);
        const second = await sendAccepted(message("again"));
        expect(second.ref).not.toBe(result.ref);
      });

      it("sends the longest text that it says it can", async () => {
        await open();
        const longest = "ñ".repeat(adapter.capabilities.maxTextLength);
        await sendAccepted(message(longest));
        expect(copies(longest)).toBe(1);
      });

      it("makes a text well-formed that has half a character in it", async () => {
        await open();
        await sendAccepted(message("a\ud83dz"));
        expect(rig.sent().map((sent) => sent.text)).toEqual(["a\ufffdz"]);
      });

      can("quotes", "shows as an answer what is an answer", async () => {
        await open();
        await rig.personSends("what do I owe?");
        await until(() => host.received.length === 1);
        await sendAccepted({ ...message("nothing"), replyTo: only().id });
        expect(rig.sent()[0]?.replyTo).toBe(only().id);
      });

      can("refused", "says `failed`, with a reason, of what will never arrive", async () => {
        await open();
        await rig.fault("refused");
        const result = await adapter.send(message("to nobody"));
        expect(result.status).toBe("failed");
        if (result.status !== "failed") return;
        expect(result.code).toMatch(/^[a-z0-9_]+$/);
        expect(result.reason).not.toBe("");
        quiet(result);
      });

      can("rate_limited", "says `retry`, and after how long, when it was too fast", async () => {
        await open();
        await rig.fault("rate_limited");
        const result = await adapter.send(message("too fast"));
        expect(result).toMatchObject({ status: "retry" });
        if (result.status === "retry") expect(result.afterMs).toBeGreaterThan(0);
        expect(copies("too fast")).toBe(0);
        await sendAccepted(message("too fast"));
        quiet(result);
      });

      can("broken", "never calls accepted what the platform failed at", async () => {
        await open();
        await rig.fault("broken");
        const result = await adapter.send(message("broken"));
        expect(["unknown", "retry", "failed"]).toContain(result.status);
        expect(copies("broken")).toBe(0);
        quiet(result);
      });

      for (const fault of ["silent", "cut"] as const) {
        can(
          fault,
          `says \`unknown\`, and does not send again, when the platform took it and ${fault === "cut" ? "the line was cut" : "never answered"}`,
          async () => {
            await open();
            await rig.fault(fault);
            const outbound = message("perhaps");
            const result = await adapter.send(outbound);
            expect(result.status).toBe("unknown");
            if (result.status === "unknown" && outbound.id !== undefined) expect(result.ref).toBe(outbound.id);
            await sleep(50);
            expect(copies("perhaps")).toBe(1);
            quiet(result);
          },
        );
      }

      can("unreachable", "says `retry` when nothing can have left", async () => {
        await open();
        await rig.fault("unreachable");
        const result = await adapter.send(message("not yet"));
        expect(result.status).toBe("retry");
        expect(copies("not yet")).toBe(0);
        quiet(result);
      });

      it("gives up when it is told to, and throws nothing", async () => {
        await open();
        const result = await adapter.send(message("never mind"), AbortSignal.abort());
        expect(["retry", "unknown"]).toContain(result.status);
        if (result.status === "retry") expect(copies("never mind")).toBe(0);
      });

      it("throws nothing at nonsense", async () => {
        await open();
        const result = await adapter.send({ ...message("to nobody"), chat: "no such chat" });
        expect(["failed", "retry", "unknown"]).toContain(result.status);
        await adapter.typing?.("no such chat");
        await adapter.markRead?.({ chat: "no such chat", sender: "nobody", id: "none" });
      });

      can("receipts", "hands on what the platform reports of a message", async () => {
        await open();
        const { ref } = await sendAccepted(message("with receipts"));
        await rig.reports(ref, "delivered");
        await until(() => host.receipts.some((one) => one.ref === ref && one.level === "delivered"));
        await rig.reports(ref, "read");
        await until(() => host.receipts.some((one) => one.ref === ref && one.level === "read"));
        const got = host.receipts.find((one) => one.level === "delivered");
        expect(Math.abs((got?.at ?? 0) - host.host.now())).toBeLessThan(10_000);
      });
    });

    function quiet(result: SendResult): void {
      for (const secret of rig.secrets) expect(JSON.stringify(result)).not.toContain(secret);
    }
  });
}

/** Texts are never normalised; the one thing that a platform itself may do is to trim their ends. */
function asPlatformKeeps(typed: string, got: string): string {
  return got === typed.trim() ? typed.trim() : typed;
}

async function until(condition: () => boolean, told: () => string = () => "it never came to that"): Promise<void> {
  for (const end = Date.now() + 15_000; !condition(); ) {
    if (Date.now() > end) throw new Error(`waited in vain: ${told()}`);
    await sleep(5);
  }
}
