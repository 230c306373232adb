import type { ChannelLog, ChannelStore, FencedState, Lease, LogEntry } from "../channels/index.js";
import { bareStreamId, padStreamId, streamId } from "./stream-id.js";

export interface MemoryChannelStoreOptions {
  /** Ms since 1970. Default `Date.now`. */
  readonly now?: () => number;
}

export interface MemoryChannelStore extends ChannelStore {
  /** As if the lease's holder had not renewed it in time: its `lost` aborts, and the lease is free. */
  breakLease(): void;
}

/**
 * One account's corner of a store, in this process only. Adapters that are to share the account share the object.
 * Nothing survives the process.
 */
export function createMemoryChannelStore(options: MemoryChannelStoreOptions = {}): MemoryChannelStore {
  const now = options.now ?? Date.now;
  const values = new Map<string, { readonly value: string; readonly until: number }>();
  const state = new Map<string, string>();
  let fence = 0;
  let held: { readonly fence: number; readonly lost: AbortController } | undefined;

  const fenced: FencedState = {
    async read(keys) {
      return keys.map((key) => state.get(key));
    },
    async keys(prefix) {
      return [...state.keys()].filter((key) => key.startsWith(prefix));
    },
    async write(writer, entries) {
      if (writer < fence) return false;
      for (const [key, value] of Object.entries(entries)) {
        if (value === null) state.delete(key);
        else state.set(key, value);
      }
      return true;
    },
  };

  return {
    async acquireLease(): Promise<Lease | undefined> {
      if (held) return undefined;
      const mine = { fence: ++fence, lost: new AbortController() };
      held = mine;
      return {
        fence: mine.fence,
        lost: mine.lost.signal,
        async release() {
          if (held === mine) held = undefined;
        },
      };
    },
    breakLease() {
      const broken = held;
      held = undefined;
      broken?.lost.abort();
    },
    async get(key) {
      const found = values.get(key);
      if (!found || found.until > now()) return found?.value;
      values.delete(key);
      return undefined;
    },
    async set(key, value, ttlMs) {
      values.set(key, { value, until: ttlMs === undefined ? Number.POSITIVE_INFINITY : now() + ttlMs });
    },
    async delete(key) {
      values.delete(key);
    },
    fenced,
    log: createMemoryLog(now),
  };
}

interface Follower {
  readonly onEntry: (entry: LogEntry) => void;
  readonly onSignal: (value: string) => void;
}

interface Chat {
  readonly entries: LogEntry[];
  readonly once: Map<string, string>;
  readonly followers: Set<Follower>;
}

function createMemoryLog(now: () => number): ChannelLog {
  const chats = new Map<string, Chat>();
  let latest = { ms: 0, sequence: 0 };

  function chatOf(name: string): Chat {
    const known = chats.get(name);
    if (known) return known;
    const made: Chat = { entries: [], once: new Map(), followers: new Set() };
    chats.set(name, made);
    return made;
  }

  function nextId(): string {
    const ms = now();
    latest = ms > latest.ms ? { ms, sequence: 0 } : { ms: latest.ms, sequence: latest.sequence + 1 };
    return streamId(latest.ms, latest.sequence);
  }

  return {
    async append(name, value, once) {
      const chat = chatOf(name);
      const known = once === undefined ? undefined : chat.once.get(once);
      if (known !== undefined) return known;
      const entry = { id: nextId(), value };
      chat.entries.push(entry);
      if (once !== undefined) chat.once.set(once, entry.id);
      for (const follower of [...chat.followers])
        queueMicrotask(() => chat.followers.has(follower) && follower.onEntry(entry));
      return entry.id;
    },
    async read(name, afterId, limit) {
      const bare = afterId === undefined ? undefined : bareStreamId(afterId);
      const after = bare === undefined ? "" : padStreamId(bare);
      const later = chatOf(name).entries.filter((entry) => entry.id > after);
      return limit > 0 ? later.slice(-limit) : [];
    },
    async signal(name, value) {
      const chat = chatOf(name);
      for (const follower of [...chat.followers]) {
        queueMicrotask(() => chat.followers.has(follower) && follower.onSignal(value));
      }
    },
    async follow(name, onEntry, onSignal) {
      const chat = chatOf(name);
      const follower = { onEntry, onSignal };
      chat.followers.add(follower);
      return () => void chat.followers.delete(follower);
    },
  };
}
