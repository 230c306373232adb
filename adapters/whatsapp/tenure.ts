import { jidNormalizedUser } from "@whiskeysockets/baileys";
import type { ChannelHost, ChannelStatus, Lease } from "../../src/channels/index.js";
import { afterClosing } from "./closing.js";
import { type DeviceState, openDeviceState } from "./device-state.js";
import { createGroups } from "./groups.js";
import { isLid, personOf } from "./jid.js";
import { createJournal } from "./journal.js";
import { type Line, openLine, patience } from "./line.js";
import { createMailroom, type Mailroom } from "./mailroom.js";
import type { WhatsappOptions, WhatsappTiming } from "./options.js";
import type { Pairing } from "./pairing.js";
import { backoff, pause, within } from "./pause.js";
import { createPeople, type People } from "./people.js";
import type { Sealer } from "./sealing.js";
import { contentOf, type OpenLine } from "./sending.js";
import type { SentLog } from "./sent-log.js";

export type Tell = (status: Omit<ChannelStatus, "since">) => void;

export interface TenureOptions {
  readonly options: WhatsappOptions;
  readonly timing: WhatsappTiming;
  readonly host: ChannelHost;
  readonly lease: Lease;
  readonly sealer: Sealer;
  readonly sent: SentLog;
  /** Whether that message is being sent right now. */
  readonly isUnderWay: (id: string) => boolean;
  readonly pairing: Pairing;
  readonly random: () => number;
  readonly tell: Tell;
  /** The connection that can be sent on; undefined when there is none any more. */
  readonly onLine: (line: OpenLine | undefined) => void;
}

/** Why this process is not to connect again for now, though it may still hold the lease. */
export type Departure = { readonly kind: "ended" } | { readonly kind: "yield"; readonly reason: string };

/** Questions to Baileys about who is who; it may have to ask WhatsApp. */
const askMs = 2_000;
const connectionsAtOnce = 3;

/**
 * The time for which this process has the account to itself: it connects, pairs, connects again, as WhatsApp's codes
 * ask for, until `stop` aborts or the lease is lost.
 * @throws DaleError when the state cannot be read
 */
export async function holdAccount(settings: TenureOptions, stop: AbortSignal): Promise<Departure> {
  const { options, timing, host, lease, sealer, pairing, tell, random } = settings;
  const account = options.name;
  const ending = new AbortController();
  const over = AbortSignal.any([stop, lease.lost, ending.signal]);
  const { fence } = lease;
  const { fenced } = host.store;
  const kept = { fenced, fence, sealer, onFenced: () => ending.abort() };
  const state = await openDeviceState(kept);
  const journal = createJournal({ ...kept, ...patience, me: () => state.creds.me ?? {}, now: host.now });
  const groups = createGroups(host.now);
  const blocklist = new Set<string>();
  const own = () => [state.creds.me?.id, state.creds.me?.lid].flatMap((jid) => personOf(jid) ?? []);
  let line: Line | undefined;
  const people = createPeople({
    store: host.store,
    ask: (person) => within(askMs, askBaileys(line, person)),
    count: host.count,
    now: host.now,
  });
  const { sent, isUnderWay } = settings;
  const mailroom = createMailroom({ options, host, journal, people, sent, timing, own, isUnderWay });

  try {
    await mailroom.takeUp();
    return await live();
  } finally {
    settings.onLine(undefined);
    pairing.over();
    await line?.end();
    await mailroom.stop();
    await state.flush().catch(() => undefined);
  }

  async function live(): Promise<Departure> {
    let failures = 0;
    let atOnce = 0;
    let refusals = 0;
    let reason: string | undefined;
    if (!state.linked) pairing.ask();
    while (!over.aborted) {
      if (!state.linked) {
        await pairing.untilAsked(over);
        if (over.aborted) break;
        pairing.takeUp();
        state.renew();
      }
      const startedAt = host.now();
      if (failures === 0 && reason === undefined) tell({ state: "starting" });
      const { code, shown } = await connectOnce();
      if (over.aborted) break;
      // Whoever connects next, here or elsewhere, begins from what is written.
      await written(state);
      if (over.aborted) break;
      if (host.now() - startedAt > timing.steady) failures = 0;
      refusals = code === 405 || code === 409 ? refusals + 1 : 0;
      const next = afterClosing({ code, linked: state.linked, shown, refusals });
      reason = next.reason;
      host.logger.info({ account, code, next: next.kind }, "the connection to WhatsApp has ended");
      switch (next.kind) {
        case "reconnect":
          tell({ state: "reconnecting", reason });
          if (!state.linked) pairing.ask();
          atOnce = next.when === "now" ? atOnce + 1 : 0;
          if (atOnce > 0 && atOnce <= connectionsAtOnce) break;
          await pause(backoff(timing.backoff, ++failures, 60, random), over);
          break;
        case "yield":
          return { kind: "yield", reason };
        case "unscanned":
          tell({ state: "unpaired", reason: `${reason} ${howToPair(account)}` });
          break;
        case "unlinked":
          reason = `${next.reason} on ${dayOf(host.now())}: pair again.`;
          host.logger.error({ account, code }, "the account was logged out on the phone and has to be paired again");
          await keepTrying(() => state.archive({ reason: reason ?? next.reason, at: host.now() }));
          tell({ state: "stopped", reason: `${reason} ${howToPair(account)}` });
          break;
        case "halt":
          host.logger.error({ account, code }, "WhatsApp refuses the account, and Dale does not try again by itself");
          tell({ state: "stopped", reason });
          await pairing.untilAsked(over);
          if (!over.aborted && state.linked) {
            await keepTrying(() => state.archive({ reason: next.reason, at: host.now() }));
          }
          break;
      }
    }
    return { kind: "ended" };
  }

  async function connectOnce(): Promise<{ readonly code: number; readonly shown: boolean }> {
    let shown = false;
    mailroom.connecting();
    const opened = openLine({
      state,
      journal,
      groups,
      socketUrl: options.socketUrl,
      timing,
      sentMessage: (id, chat) => sentMessage(id, chat),
      events: {
        onQr(qr) {
          shown = true;
          const before = state.ended ? { reason: state.ended.reason } : {};
          tell({ state: "unpaired", qr, ...before });
          pairing.ready(opened.socket);
        },
        onOpen() {
          tell({ state: "open" });
          mailroom.open();
          settings.onLine({
            socket: opened.socket,
            own: own(),
            people,
            groups,
            isBlocked: (person) => blocklist.has(person),
          });
          void opened.socket.fetchBlocklist().then(
            (jids) => block(jids, "add"),
            () => undefined,
          );
        },
        onCaughtUp: mailroom.caughtUp,
        onMessages: mailroom.messages,
        onUpdates: mailroom.updates,
        onGroupReceipts: mailroom.groupReceipts,
        onAck: mailroom.acknowledged,
        onPair: (lid, pn) => void people.learn(lid, pn).catch(() => undefined),
        onBlocked: ({ blocklist: jids, type }) => block(jids, type),
        onMistake(error) {
          const name = error instanceof Error ? error.name : typeof error;
          host.logger.error({ account, name }, "an event of WhatsApp could not be handled");
        },
      },
    });
    line = opened;
    const end = () => void opened.end();
    over.addEventListener("abort", end);
    if (over.aborted) end();
    const { code } = await opened.closed;
    over.removeEventListener("abort", end);
    settings.onLine(undefined);
    pairing.over();
    mailroom.closed();
    return { code, shown };
  }

  function block(jids: readonly (string | undefined)[], type: "add" | "remove"): void {
    for (const jid of jids) {
      const person = personOf(jid);
      if (person === undefined) continue;
      if (type === "add") blocklist.add(person);
      else blocklist.delete(person);
    }
  }

  /** A phone that could not read a message asks for it again: only where it was sent. */
  async function sentMessage(id: string, chat: string) {
    const text = await sent.read(id);
    if (!text) return undefined;
    const asking = personOf(chat) === undefined ? chat : await people.nameOf(chat);
    if (asking !== text.chat) return undefined;
    return contentOf(text, await people.addressOf(text.sender, personOf(chat) === undefined ? chat : undefined));
  }

  async function written(from: DeviceState): Promise<void> {
    await keepTrying(() => from.flush());
  }

  /** Until the store has it, or this process has no say any more. */
  async function keepTrying(work: () => Promise<void>): Promise<void> {
    for (let tries = 1; !over.aborted; tries++) {
      try {
        return await work();
      } catch {
        await pause(backoff(timing.store, tries, 20, random), over);
      }
    }
  }
}

async function askBaileys(line: Line | undefined, person: string): Promise<string | undefined> {
  const mapping = line?.socket.signalRepository.lidMapping;
  const found = isLid(person) ? await mapping?.getPNForLID(person) : await mapping?.getLIDForPN(person);
  return found ? jidNormalizedUser(found) : undefined;
}

export function howToPair(account: string): string {
  return `Run dale pair whatsapp:${account}, or open /pair/whatsapp/${account}.`;
}

/** To the minute, in UTC. */
function dayOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

export type { Mailroom, People };
