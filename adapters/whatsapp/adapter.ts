import type {
  Attachment,
  ChannelAdapter,
  ChannelCapabilities,
  ChannelHost,
  ChannelStatus,
} from "../../src/channels/index.js";
import { DaleError } from "../../src/errors/index.js";
import { hushLibsignal } from "./console-guard.js";
import { fetchFile, mediaHostOf } from "./media.js";
import { checkServer, defaultTiming, unsafeProcess, type WhatsappOptions } from "./options.js";
import { ownAccount } from "./ownership.js";
import { createPacing } from "./pacing.js";
import { createPairing } from "./pairing.js";
import { pause } from "./pause.js";
import { createPresence } from "./presence.js";
import { createSealer } from "./sealing.js";
import { createSending, newMessageId, type OpenLine } from "./sending.js";
import { createSentLog } from "./sent-log.js";
import type { Tell } from "./tenure.js";

export type WhatsappAdapter = ChannelAdapter &
  Required<
    Pick<ChannelAdapter, "newId" | "typing" | "markRead" | "fetchAttachment" | "requestPairingCode" | "beginPairing">
  > & { readonly channel: "whatsapp" };

export interface WhatsappDependencies {
  /** 0 … 1, for pauses. Default Math.random. */
  readonly random?: () => number;
  /** Default process.env. */
  readonly env?: NodeJS.ProcessEnv;
}

/** How long a code may take to be had, ms: the account may have to connect first. */
const codeMs = 30_000;
/** How long a process may take to know whether the account is its own, and linked, ms. */
const knownMs = 10_000;

function capabilitiesOf(pacing: WhatsappOptions["pacing"]): ChannelCapabilities {
  const human = pacing === "human";
  return {
    receipts: "read",
    noticeLevel: "delivered",
    // WhatsApp takes 65,536, but its apps fold long messages, and a notice stands at the end.
    maxTextLength: 4_000,
    formattingMarks: "*_~`",
    sentAtResolution: 1_000,
    ownsIds: true,
    // That phones show a message once that came twice under one id is likely, and nowhere promised.
    repeatsSafely: false,
    sendsOverConnection: true,
    typing: true,
    marksRead: true,
    // WhatsApp tells no limits; these are a busy person's.
    limits: {
      account: human ? { count: 40, perMs: 60_000 } : { count: 30, perMs: 1_000 },
      chat: human ? { count: 1, perMs: 1_000 } : { count: 5, perMs: 1_000 },
    },
  };
}

/**
 * One WhatsApp account, as a linked device of its phone, over Baileys.
 * @throws DaleError `config_invalid` for a server that is not WhatsApp's, unless it is on this machine
 */
export function createWhatsappAdapter(
  options: WhatsappOptions,
  host: ChannelHost,
  dependencies: WhatsappDependencies = {},
): WhatsappAdapter {
  checkServer(options);
  hushLibsignal();
  const { name } = options;
  const timing = { ...defaultTiming, ...options.timing };
  const random = dependencies.random ?? Math.random;
  const sealer = createSealer(options.encryptionKeys);
  const sent = createSentLog(host.store, sealer);
  const pacing = createPacing(options.pacing, random);
  const pairing = createPairing();
  let line: OpenLine | undefined;
  let owner = false;

  /** Aborted, and replaced, when the status changes. */
  let told = new AbortController();
  let status: ChannelStatus = { state: "stopped", since: host.now() };
  const tell: Tell = (next) => {
    const { since, ...before } = status;
    if (JSON.stringify(before) === JSON.stringify(next)) return;
    status = { ...next, since: before.state === next.state ? since : host.now() };
    told.abort();
    told = new AbortController();
    host.statusChanged(status);
  };
  const lineNow = () => line;
  const presence = createPresence(lineNow, pacing);
  const sending = createSending({ line: lineNow, sent, pacing, ackMs: timing.ack, prepareMs: timing.query * 2 });

  /** What `start` set going. */
  let running: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;

  /** Resolves when the account may be paired: at once, or when this process knows what there is of it. */
  async function mayPair(): Promise<void> {
    const patience = AbortSignal.timeout(knownMs);
    while (running && status.state === "starting" && !patience.aborted) {
      await pause(knownMs, AbortSignal.any([patience, told.signal]));
    }
    if (!running) throw new DaleError("pairing_failed", "This process does not receive on the account.");
    if (!owner) throw new DaleError("lease_lost", "Another process owns this account now.");
    if (status.state === "unpaired" || status.state === "stopped") return;
    throw new DaleError("pairing_failed", "The account is linked already, or is just connecting.");
  }
  async function beginPairing(): Promise<void> {
    await mayPair();
    // A code that is being shown goes on being shown.
    if (status.qr === undefined) pairing.ask();
  }

  return {
    channel: "whatsapp",
    name,
    capabilities: capabilitiesOf(options.pacing),
    async start() {
      if (running) return;
      const unsafe = unsafeProcess(options, dependencies.env ?? process.env);
      if (unsafe !== undefined) {
        host.logger.error({}, "TLS verification is switched off: WhatsApp is not connected to");
        return tell({ state: "stopped", reason: unsafe });
      }
      const stop = new AbortController();
      tell({ state: "starting" });
      const ended = ownAccount(
        {
          options,
          timing,
          host,
          sealer,
          sent,
          isUnderWay: sending.isUnderWay,
          pairing,
          random,
          tell,
          onLine: (next) => {
            line = next;
          },
          onOwner: (now) => {
            owner = now;
          },
        },
        stop.signal,
      );
      running = { stop, ended };
    },
    async stop() {
      const was = running;
      running = undefined;
      was?.stop.abort();
      await was?.ended;
      tell({ state: "stopped" });
    },
    status: () => status,
    send: sending.send,
    newId: newMessageId,
    typing: presence.typing,
    markRead: presence.markRead,
    fetchAttachment: (attachment: Attachment, maxBytes: number, signal?: AbortSignal) =>
      fetchFile(mediaHostOf(options.socketUrl), attachment, maxBytes, timing.query, signal),
    beginPairing,
    async requestPairingCode(phone) {
      const digits = phone.replace(/[\s()+.-]/g, "");
      if (!/^[1-9]\d{6,14}$/.test(digits)) {
        throw new DaleError("pairing_failed", "Write the phone number with its country code, digits only.");
      }
      await beginPairing();
      const pairingCode = await pairing.code(digits, codeMs);
      const { since: _, ...now } = status;
      tell({ ...now, pairingCode });
      return pairingCode;
    },
  };
}
