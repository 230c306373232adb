import { kindOf, onRequestOnly, type Update, type UpdateBody } from "./objects.js";

export const webhookIsSet =
  "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";
export const otherPoller =
  "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";

/** What a bot has not confirmed yet, and the one long poll that may wait for more. */
export interface UpdateQueue {
  /** Gives the update its id, and wakes a poller. Undefined when the bot did not ask for updates of that kind. */
  add(body: UpdateBody, force: boolean): Update | undefined;
  /** Confirms everything before `offset`, then answers at once or when something comes. Null: another poller came. */
  poll(options: PollOptions): Promise<readonly Update[] | null>;
  allow(kinds: readonly string[] | undefined): void;
  allowed(): readonly string[];
  remove(update: Update): void;
  drop(): void;
  /** Ends a poll that waits. */
  interrupt(): void;
  pending(): readonly Update[];
  /** The id of the next update. */
  goOnFrom(id: number): void;
  onAdded(listener: () => void): void;
}

export interface PollOptions {
  readonly offset: number;
  readonly limit: number;
  readonly timeoutMs: number;
  /** Aborts when the poller has gone away. */
  readonly gone: AbortSignal;
}

export function createUpdateQueue(firstId: number): UpdateQueue {
  let updates: Update[] = [];
  let nextId = firstId;
  let kinds: readonly string[] = [];
  let wake: ((outcome: "added" | "other") => void) | undefined;
  const added: (() => void)[] = [];

  return {
    add(body, force) {
      const kind = kindOf(body);
      const wanted = kinds.length > 0 ? kinds.includes(kind) : !onRequestOnly.has(kind);
      if (!wanted && !force) return undefined;
      const update: Update = { update_id: nextId++, ...body };
      updates.push(update);
      wake?.("added");
      for (const listener of added) listener();
      return update;
    },
    async poll({ offset, limit, timeoutMs, gone }) {
      wake?.("other");
      if (offset < 0) updates = updates.slice(offset);
      else updates = updates.filter((update) => update.update_id >= offset);
      if (updates.length > 0 || timeoutMs === 0) return updates.slice(0, limit);
      const outcome = await new Promise<"added" | "other" | "gone">((resolve) => {
        const done = (how: "added" | "other" | "gone") => {
          clearTimeout(timer);
          if (wake === done) wake = undefined;
          resolve(how);
        };
        const timer = setTimeout(() => done("gone"), timeoutMs);
        gone.addEventListener("abort", () => done("gone"), { once: true });
        wake = done;
      });
      if (outcome === "other") return null;
      return outcome === "added" ? updates.filter((update) => update.update_id >= offset).slice(0, limit) : [];
    },
    allow: (asked) => {
      if (asked) kinds = asked;
    },
    allowed: () => kinds,
    remove: (update) => {
      updates = updates.filter((one) => one !== update);
    },
    drop: () => {
      updates = [];
    },
    interrupt: () => wake?.("other"),
    pending: () => updates,
    goOnFrom: (id) => {
      nextId = id;
    },
    onAdded: (listener) => void added.push(listener),
  };
}
