import type { ChannelStatus } from "./adapter.js";
import type { InboundMessage } from "./message.js";
import type { Receipt } from "./outbound.js";

/** What an adapter gets from the application that runs it. All of it may be shared by several processes. */
export interface ChannelHost {
  /**
   * Takes over one inbound message. Resolves only when it is durably enqueued (or known already): acknowledge to the
   * platform only then. Rejects with `store_unavailable` (a DaleError) when that is not certain: do not acknowledge.
   */
  receive(message: InboundMessage): Promise<"queued" | "duplicate">;
  /** Takes over one receipt, known message or not. Resolves when it is durably written; rejects like `receive`. */
  receipt(receipt: Receipt): Promise<void>;
  /**
   * Somebody wrote in a chat whose message is no inbound one: the operator's own phone, an anonymous admin. What was sent
   * there before is not the last thing any more that people there have read. `id`: the platform's, where it may be one of
   * our own messages: then it is left out. Resolves when it is written down; rejects like `receive`.
   */
  overheard(message: { readonly chat: string; readonly id?: string }): Promise<void>;
  /**
   * A person took one of their own messages back, or changed it, wherever it is by now: a yes that it was gives nothing any
   * more, unless what it allowed runs already. Resolves when that is written down; rejects like `receive`.
   */
  retracted(message: { readonly chat: string; readonly sender: string; readonly id: string }): Promise<void>;
  /** Tells the application that `status()` changed. */
  statusChanged(status: ChannelStatus): void;
  /** Counts something that an operator may want to know, e.g. `unsupported_update`. The name is stable, without ids. */
  count(event: string): void;
  readonly store: ChannelStore;
  readonly logger: ChannelLogger;
  /** Our clock, ms since 1970. */
  now(): number;
}

/** Structured, like pino: ids and codes in `fields`; never texts, arguments, tokens or phone numbers. */
export interface ChannelLogger {
  debug(fields: Record<string, unknown>, message: string): void;
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}

/** The account's own corner of the store: durable, shared by every process, namespaced by channel and account. */
export interface ChannelStore {
  /**
   * The right to be the only one who receives on this account, or undefined when another process holds it. Renewed by
   * itself until released; `lost` aborts when it could not be renewed in time.
   */
  acquireLease(ttlMs: number): Promise<Lease | undefined>;
  get(key: string): Promise<string | undefined>;
  /** @param ttlMs forgotten after so long; without it, kept */
  set(key: string, value: string, ttlMs?: number): Promise<void>;
  delete(key: string): Promise<void>;
  /** State that only the lease's holder may write (Baileys' auth state). */
  readonly fenced: FencedState;
  /** An append-only log per chat that several processes may follow (webchat's history). */
  readonly log: ChannelLog;
}

export interface Lease {
  /** Larger for every later holder. */
  readonly fence: number;
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

export interface FencedState {
  read(keys: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** Keys that start with `prefix`. */
  keys(prefix: string): Promise<readonly string[]>;
  /** All or nothing; null deletes. False, and nothing written, when a later fence has been given out. */
  write(fence: number, entries: Readonly<Record<string, string | null>>): Promise<boolean>;
}

export interface LogEntry {
  /** Sorts by age within its chat. */
  readonly id: string;
  readonly value: string;
}

export interface ChannelLog {
  /** @param once the same `once` in the same chat is appended once; a repetition answers the first one's id */
  append(chat: string, value: string, once?: string): Promise<string>;
  /** The newest `limit` entries after `afterId` (all if undefined), oldest first. */
  read(chat: string, afterId: string | undefined, limit: number): Promise<readonly LogEntry[]>;
  /** Something that is not kept: handed to whoever follows the chat now, in any process. */
  signal(chat: string, value: string): Promise<void>;
  /** Calls back for every later entry and signal of the chat, in any process. Resolves when it is listening. */
  follow(chat: string, onEntry: (entry: LogEntry) => void, onSignal: (value: string) => void): Promise<() => void>;
}
