import {
  type BaileysEventMap,
  type BinaryNode,
  makeWASocket,
  type proto,
  type WASocket,
} from "@whiskeysockets/baileys";
import type { DeviceState } from "./device-state.js";
import type { Groups } from "./groups.js";
import type { Journal } from "./journal.js";
import type { WhatsappTiming } from "./options.js";
import { pause } from "./pause.js";
import { signalRepositoryWith } from "./signal-repository.js";
import { silentLogger } from "./silent-logger.js";

/** One connection to WhatsApp, from its beginning to its end. Another one is another line. */
export interface Line {
  readonly socket: WASocket;
  /** When and with which code it ended. */
  readonly closed: Promise<{ readonly code: number }>;
  /** Ends it; waits a moment for the other side. */
  end(): Promise<void>;
}

export interface LineEvents {
  onQr(qr: string): void;
  onOpen(): void;
  /** All that had waited for us has been handed over. */
  onCaughtUp(): void;
  onMessages(upsert: BaileysEventMap["messages.upsert"]): void;
  onUpdates(updates: BaileysEventMap["messages.update"]): void;
  onGroupReceipts(updates: BaileysEventMap["message-receipt.update"]): void;
  /** WhatsApp has a message of ours, or does not take it. */
  onAck(ack: BinaryNode): void;
  onPair(lid: string, pn: string): void;
  onBlocked(list: BaileysEventMap["blocklist.update"]): void;
  /** An event's handler failed: a mistake of ours. */
  onMistake(error: unknown): void;
}

export interface LineOptions {
  readonly state: DeviceState;
  readonly journal: Journal;
  readonly groups: Groups;
  readonly socketUrl: string | undefined;
  readonly timing: WhatsappTiming;
  readonly events: LineEvents;
  /** A message of ours that a phone asks for once more. */
  readonly sentMessage: (id: string, chat: string) => Promise<proto.IMessage | undefined>;
}

/** A write is tried for half a minute while the store is away; until then nothing is acknowledged. Pauses in ms. */
export const patience = { tries: 60, pauseMs: 25 };
/** What Baileys calls an end that it does not know. */
const unknownEnd = 500;
const goodbyeMs = 1_000;

export function openLine(options: LineOptions): Line {
  const { state, journal, groups, events, timing } = options;
  const over = new AbortController();
  const socket = makeWASocket({
    auth: { creds: state.creds, keys: state.keys },
    logger: silentLogger,
    ...(options.socketUrl === undefined ? {} : { waWebSocketUrl: options.socketUrl }),
    connectTimeoutMs: timing.query,
    defaultQueryTimeoutMs: timing.query,
    qrTimeout: timing.qr,
    keepAliveIntervalMs: timing.keepAlive,
    transactionOpts: { maxCommitRetries: 1, delayBetweenTriesMs: 0 },
    makeSignalRepository: signalRepositoryWith(journal, over.signal),
    getMessage: async ({ id, remoteJid }) =>
      id ? options.sentMessage(id, remoteJid ?? "").catch(() => undefined) : undefined,
    cachedGroupMetadata: async (jid) => groups.read(jid),
    // What we send ourselves comes back as an update otherwise, and hides what became of it.
    emitOwnEvents: false,
    // Else the owner's phone shows no notifications any more.
    markOnlineOnConnect: false,
    // No old conversations: they are nobody's new messages.
    syncFullHistory: false,
    shouldSyncHistoryMessage: () => false,
  });
  socket.ws.on("CB:message", (stanza: BinaryNode) => journal.saw(stanza));
  socket.ws.on("CB:ack,class:message", (ack: BinaryNode) => events.onAck(ack));

  let resolveClosed: (closing: { readonly code: number }) => void = () => {};
  const closed = new Promise<{ readonly code: number }>((resolve) => {
    resolveClosed = resolve;
  });
  function end(closing: { readonly code: number }): void {
    over.abort();
    resolveClosed(closing);
  }
  const handlers: Handlers = {
    "connection.update"({ connection, qr, receivedPendingNotifications, lastDisconnect }) {
      if (qr !== undefined) events.onQr(qr);
      if (connection === "open") events.onOpen();
      if (receivedPendingNotifications) events.onCaughtUp();
      if (connection === "close") end({ code: codeOf(lastDisconnect?.error) });
    },
    "messages.upsert": events.onMessages,
    "messages.update": events.onUpdates,
    "message-receipt.update": events.onGroupReceipts,
    "lid-mapping.update": ({ lid, pn }) => events.onPair(lid, pn),
    "blocklist.update": events.onBlocked,
    "groups.update": (updates) => {
      for (const { id } of updates) groups.forget(id);
    },
    "group-participants.update": ({ id }) => groups.forget(id),
  };
  observe(socket, handlers, events.onMistake);
  // After Baileys has taken the update over into the credentials.
  socket.ev.on("creds.update", () => state.save());

  return {
    socket,
    closed,
    async end() {
      const gone = new AbortController();
      await Promise.race([socket.end(undefined), pause(goodbyeMs, gone.signal)]).catch(events.onMistake);
      gone.abort();
      end({ code: unknownEnd });
    },
  };
}

type Handlers = { readonly [Event in keyof BaileysEventMap]?: (data: BaileysEventMap[Event]) => void };

/**
 * Sees each event when it is emitted. Baileys' listeners see them later: it collects events for some time, merges those
 * of one message, by a key that leaves out who sent it (two members of a group may use the same id), and forgets what it
 * has collected when the connection ends. A listener that throws makes it emit old messages once more.
 */
function observe(socket: WASocket, handlers: Handlers, onMistake: (error: unknown) => void): void {
  const { emit } = socket.ev;
  socket.ev.emit = (event, data) => {
    try {
      handlers[event]?.(data);
    } catch (error) {
      onMistake(error);
    }
    return emit(event, data);
  };
}

/** Baileys ends with a Boom, or with whatever was thrown. */
function codeOf(error: unknown): number {
  if (typeof error !== "object" || error === null || !("output" in error)) return unknownEnd;
  const { output } = error;
  if (typeof output !== "object" || output === null || !("statusCode" in output)) return unknownEnd;
  return Number(output.statusCode) || unknownEnd;
}
