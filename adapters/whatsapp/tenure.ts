import { jidNormalizedUser } from "@whiskeysockets/baileys";
import type { ChannelHost, ChannelStatus, Lease } from "../../src/channels/index.js";
import { afterClosing } from "./closing.js";
import { openDeviceState } from "./device-state.js";
import { createGroups } from "./groups.js";
import { isLid, personOf } from "./jid.js";
import { createJournal } from "./journal.js";
import { type Line, patience } from "./line.js";
import { createMailroom } from "./mailroom.js";
import type { WhatsappOptions, WhatsappTiming } from "./options.js";
import type { Pairing } from "./pairing.js";
import { backoff, pause, within } from "./pause.js";
import { createPeople } from "./people.js";
import type { Sealer } from "./sealing.js";
import type { OpenLine } from "./sending.js";
import type { SentLog } from "./sent-log.js";
import { untilIdle } from "./signal-repository.js";
import { visit } from "./visit.js";

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
/** A server that asks to connect again and again at once is given a pause. */
const mostAtOnce = 3;

/**
 * The time for which this process has the account to itself: it connects, pairs, connects again, as WhatsApp's codes
 * ask for, until `stop` aborts or the lease is lost.
 * @throws DaleError when the state cannot be read
 */
export async function holdAccount(settings: TenureOptions, stop: AbortSignal): Promise<Departure> {
  const { options, timing, host, lease, pairing, tell, random, sent, isUnderWay } = settings;
  const fenced = new AbortController();
  const over = AbortSignal.any([stop, lease.lost, fenced.signal]);
  const { store, now } = host;
  const onFenced = () => fenced.abort();
  const kept = { fenced: store.fenced, fence: lease.fence, sealer: settings.sealer, onFenced, over, ...patience };
  const state = await openDeviceState(kept);
  const journal = createJournal({ ...kept, me: () => state.creds.me ?? {}, now });
  const groups = createGroups(now);
  const own = () => [state.creds.me?.id, state.creds.me?.lid].flatMap((jid) => personOf(jid) ?? []);
  let line: Line | undefined;
  const ask = (person: string) => within(askMs, askBaileys(line, person));
  const people = createPeople({ store, ask, count: host.count, now });
  const mailroom = createMailroom({ options, host, journal, people, sent, timing, own, isUnderWay });

  try {
    // What was taken up goes on together with what has waited at WhatsApp: some of it may be older.
    if (state.linked) mailroom.connecting();
    mailroom.takeUp(await journal.leftovers());
    return await live();
  } finally {
    settings.onLine(undefined);
    pairing.over();
    await line?.end();
    await mailroom.stop();
    await state.flush().catch(() => undefined);
  }

  async function live(): Promise<Departure> {
    const failures = { count: 0, atOnce: 0, refusals: 0 };
    tell({ state: "starting" });
    if (!state.linked) pairing.ask();
    while (!over.aborted) {
      if (!state.linked) {
        await pairing.untilAsked(over);
        if (over.aborted) break;
        pairing.takeUp();
        state.renew();
      }
      const startedAt = now();
      const { code, shown } = await connectOnce();
      await untilIdle();
      mailroom.takeUp(journal.untold());
      // Whoever connects next, here or elsewhere, begins from what is written.
      await keepTrying(() => state.flush());
      if (over.aborted) break;
      if (now() - startedAt > timing.steady) failures.count = 0;
      failures.refusals = code === 405 || code === 409 ? failures.refusals + 1 : 0;
      const next = afterClosing({ code, linked: state.linked, shown, refusals: failures.refusals });
      host.logger.info({ code, next: next.kind }, "the connection to WhatsApp has ended");
      switch (next.kind) {
        case "yield":
          return { kind: "yield", reason: next.reason };
        case "reconnect":
          tell({ state: "reconnecting", reason: next.reason });
          if (!state.linked) pairing.ask();
          failures.atOnce = next.when === "now" ? failures.atOnce + 1 : 0;
          if (failures.atOnce > 0 && failures.atOnce <= mostAtOnce) break;
          await pause(backoff(timing.backoff, ++failures.count, 60, random), over);
          break;
        case "unscanned":
          tell({ state: "unpaired", reason: `${next.reason} ${howToPair(options.name)}` });
          break;
        case "unlinked": {
          const reason = `${next.reason} on ${toTheMinute(now())}: pair again.`;
          host.logger.error({ code }, "the account was logged out on the phone and has to be paired again");
          await keepTrying(() => state.archive({ reason, at: now() }));
          tell({ state: "stopped", reason: `${reason} ${howToPair(options.name)}` });
          break;
        }
        case "halt":
          host.logger.error({ code }, "WhatsApp refuses the account, and Dale does not try again by itself");
          tell({ state: "stopped", reason: next.reason });
          await pairing.untilAsked(over);
          if (state.linked) await keepTrying(() => state.archive({ reason: next.reason, at: now() }));
          break;
      }
    }
    return { kind: "ended" };
  }

  async function connectOnce(): Promise<{ readonly code: number; readonly shown: boolean }> {
    const { socketUrl } = options;
    const { onLine } = settings;
    const parts = { host, state, journal, groups, people, mailroom, pairing, sent, own };
    const current = visit({ ...parts, socketUrl, timing, tell, onLine });
    line = current.line;
    const end = () => void current.line.end();
    over.addEventListener("abort", end);
    if (over.aborted) end();
    const ended = await current.ended;
    over.removeEventListener("abort", end);
    return ended;
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

function howToPair(account: string): string {
  return `Run dale pair whatsapp:${account}, or open /pair/whatsapp/${account}.`;
}

/** In UTC. */
function toTheMinute(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
