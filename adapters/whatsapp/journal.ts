import {
  type BinaryNode,
  BufferJSON,
  cleanMessage,
  decodeMessageNode,
  proto,
  toNumber,
  unpadRandomMax16,
  type WAMessage,
  type WAMessageKey,
} from "@whiskeysockets/baileys";
import { DaleError } from "../../src/errors/index.js";
import { contentOf } from "./content.js";
import { createFencedWriter, type FencedWriterOptions } from "./fenced-writer.js";
import type { Sealer } from "./sealing.js";

/**
 * Messages that were decrypted and are not yet durably enqueued. Baileys acknowledges a message before it tells of it,
 * and what it has decrypted once it can never decrypt again: without this, a process that dies in between loses it. So
 * each message is written down between its decryption and its acknowledgement; where that fails, the decryption counts
 * as failed, and the sender's phone is asked to send the message again.
 */
export interface Journal {
  /** A message's stanza, as it arrives: it says whose the plaintext is that comes out of the decryption. */
  saw(stanza: BinaryNode): void;
  /**
   * Writes down what came out of a decryption, while the store is away for as long as Baileys does so with its keys.
   * @throws DaleError `lease_lost`, or what the store says when it stays away
   */
  keep(ciphertext: Uint8Array, padded: Uint8Array): Promise<void>;
  /** Names of the entries of that message. */
  entriesOf(key: WAMessageKey): readonly string[];
  /** The message is durably enqueued, or is nobody's message: its entries go. */
  settle(entries: readonly string[]): Promise<void>;
  /** What an earlier process left behind, oldest first. */
  leftovers(): Promise<readonly Leftover[]>;
  /**
   * What was written down here and never told of, oldest first: Baileys tells of a message after its acknowledgement, and
   * not at all when the connection ends in between. Each is given out once.
   */
  untold(): readonly Leftover[];
}

export interface Leftover {
  readonly message: WAMessage;
  readonly entries: readonly string[];
  /** When it arrived here, by our clock. */
  readonly receivedAt: number;
}

export interface JournalOptions extends FencedWriterOptions {
  readonly sealer: Sealer;
  /** Our own addresses. */
  readonly me: () => { readonly id?: string | undefined; readonly lid?: string | undefined };
  readonly now: () => number;
}

interface Entry {
  readonly version: 1;
  readonly key: WAMessageKey;
  readonly message: Uint8Array;
  readonly messageTimestamp: number;
  readonly pushName?: string;
  readonly receivedAt: number;
}

const prefix = "arrived:";

export function createJournal(options: JournalOptions): Journal {
  const { fenced, fence, sealer, now } = options;
  const writer = createFencedWriter(options);
  const stanzas = new WeakMap<Uint8Array, BinaryNode>();
  const known = new Map<string, Leftover[]>();
  let sequence = 0;

  async function keep(ciphertext: Uint8Array, padded: Uint8Array): Promise<void> {
    const stanza = stanzas.get(ciphertext);
    const arrived = stanza && read(stanza, padded, options.me());
    if (!arrived) return;
    const entry: Entry = { version: 1, ...arrived, receivedAt: now() };
    const name = `${prefix}${String(now()).padStart(15, "0")}-${String(++sequence).padStart(9, "0")}`;
    // Until it is written, nothing is acknowledged.
    await writer.patiently({ [name]: sealer.seal(name, JSON.stringify(entry, BufferJSON.replacer)) });
    const identity = identityOf(entry.key);
    known.set(identity, [...(known.get(identity) ?? []), leftover(name, entry)]);
  }

  return {
    keep,
    saw(stanza) {
      if (!Array.isArray(stanza.content)) return;
      for (const { tag, content } of stanza.content) {
        if (tag === "enc" && content instanceof Uint8Array) stanzas.set(content, stanza);
      }
    },
    entriesOf(key) {
      const identity = identityOf(key);
      const entries = known.get(identity) ?? [];
      known.delete(identity);
      return entries.flatMap((each) => each.entries);
    },
    async settle(entries) {
      if (entries.length > 0) await fenced.write(fence, Object.fromEntries(entries.map((name) => [name, null])));
    },
    async leftovers() {
      const names = (await fenced.keys(prefix)).toSorted();
      const kept = await fenced.read(names);
      return names.flatMap((name, index) => {
        const text = kept[index];
        if (text === undefined) return [];
        return [leftover(name, parse(sealer.open(name, text)))];
      });
    },
    untold() {
      const all = [...known.values()].flat();
      known.clear();
      return all;
    },
  };
}

/** What the stanza and its plaintext say, as Baileys will tell it; undefined for what is no message of anybody. */
function read(
  stanza: BinaryNode,
  padded: Uint8Array,
  me: { readonly id?: string | undefined; readonly lid?: string | undefined },
): Omit<Entry, "version" | "receivedAt"> | undefined {
  const decoded = proto.Message.decode(unpadRandomMax16(padded));
  const content = decoded.deviceSentMessage?.message ?? decoded;
  const bare = { ...content, senderKeyDistributionMessage: undefined, messageContextInfo: undefined };
  const parts = Object.entries(bare).filter(([, value]) => value !== null && value !== undefined);
  if (parts.length === 0 || (content.protocolMessage && contentOf(content).kind === "none")) return undefined;
  const { fullMessage } = decodeMessageNode(stanza, me.id ?? "", me.lid ?? "");
  fullMessage.message = content;
  cleanMessage(fullMessage, me.id ?? "", me.lid ?? "");
  return {
    key: fullMessage.key,
    message: proto.Message.encode(content).finish(),
    messageTimestamp: toNumber(fullMessage.messageTimestamp),
    ...named(fullMessage.pushName),
  };
}

function leftover(name: string, { key, messageTimestamp, receivedAt, pushName, message }: Entry): Leftover {
  const told = { key, messageTimestamp, message: proto.Message.decode(message), ...named(pushName) };
  return { message: told, entries: [name], receivedAt };
}

function named(pushName: string | null | undefined): { pushName?: string } {
  return typeof pushName === "string" ? { pushName } : {};
}

/** An id is unique per sender only. */
function identityOf({ remoteJid, participant, id }: WAMessageKey): string {
  return `${remoteJid} ${participant ?? ""} ${id}`;
}

function parse(text: string): Entry {
  const entry = JSON.parse(text, BufferJSON.reviver) as Entry;
  if (entry.version === 1) return entry;
  throw new DaleError("store_version", "A message that waits has a version that this build does not know.");
}
