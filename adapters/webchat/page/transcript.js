/** @import { LogLine, Message, MessageState, Unsent } from "./shapes.js" */

/**
 * What stands in the chat, in order: the log's messages by their place in it, then what is not in the log yet.
 *
 * @param {(message: Message, neighbours: { previous: Message | undefined, next: Message | undefined }) => void} onChange
 *   for every message that is new, moved or otherwise than before
 * @param {(message: Message) => void} onGone
 */
export function createTranscript(onChange, onGone) {
  /** @type {Message[]} */
  let messages = [];
  /** @type {Map<string, Message>} */
  const byId = new Map();
  /** Marks of messages whose own line has not come yet. @type {Set<string>} */
  const queued = new Set();

  /** @param {Message} message */
  function changed(message) {
    const index = messages.indexOf(message);
    onChange(message, { previous: messages[index - 1], next: messages[index + 1] });
  }

  /** @param {Message} message */
  function place(message) {
    const before = messages.findLastIndex((other) => isBefore(other, message));
    messages.splice(before + 1, 0, message);
    byId.set(message.id, message);
    changed(message);
  }

  /** @param {Message} message @param {MessageState} state @param {string} [failure] */
  function become(message, state, failure) {
    if (message.state === state && message.failure === failure) return;
    message.state = state;
    message.failure = failure;
    changed(message);
  }

  return {
    /** @param {LogLine} line @returns {boolean} whether it is a message that was not here before */
    apply(line) {
      const known = byId.get(line.id);
      if (line.kind === "queued") {
        if (!known) queued.add(line.id);
        else if (rank(known.state) < rank("sent")) become(known, "sent");
        return false;
      }
      if (line.kind === "agent") {
        if (known) return false;
        place({ ...messageOf(line), own: false, state: "shown", replyTo: line.replyTo, noticeFrom: line.noticeFrom });
        // A message without the mark stays what it is: an answer to an earlier one does not show that it arrived.
        const upTo = byId.get(line.replyTo ?? "")?.logId ?? line.logId;
        for (const message of messages) {
          if (message.state === "sent" && (message.logId ?? "~") <= upTo) become(message, "taken");
        }
        return true;
      }
      if (known) {
        if (known.logId !== undefined) return false;
        known.logId = line.logId;
        messages = messages.filter((message) => message !== known);
        place(known);
        return false;
      }
      const state = queued.delete(line.id) ? "sent" : "sending";
      place({ ...messageOf(line), own: true, state, replyTo: undefined, noticeFrom: undefined });
      return true;
    },
    /** @param {Unsent} unsent @param {"waiting" | "failed"} state */
    add({ id, text, typedAt }, state) {
      if (byId.has(id)) return;
      const none = { logId: undefined, failure: undefined, replyTo: undefined, noticeFrom: undefined };
      place({ id, text, at: typedAt, own: true, state, ...none });
    },
    /** Never takes back what is already known to have arrived. @param {string} id @param {MessageState} state @param {string} [failure] */
    become(id, state, failure) {
      const message = byId.get(id);
      if (message && rank(message.state) < rank("sent")) become(message, state, failure);
    },
    /** @param {string} id */
    taken(id) {
      const message = byId.get(id);
      if (message?.own) become(message, "taken");
    },
    /** @param {string} id */
    remove(id) {
      const message = byId.get(id);
      if (!message) return;
      const index = messages.indexOf(message);
      messages.splice(index, 1);
      byId.delete(id);
      onGone(message);
      const next = messages[index];
      if (next) changed(next);
    },
    /** Forgets what stood in the log. */
    clear() {
      for (const message of messages.filter(({ logId }) => logId !== undefined)) {
        byId.delete(message.id);
        onGone(message);
      }
      messages = messages.filter(({ logId }) => logId === undefined);
      queued.clear();
    },
    /** @returns {readonly Message[]} */
    all: () => messages,
    /** @param {string} id */
    get: (id) => byId.get(id),
  };
}

/** @param {Exclude<LogLine, { kind: "queued" }>} line */
function messageOf({ id, text, at, logId }) {
  return { id, text, at, logId, failure: undefined };
}

/** @param {Message} a @param {Message} b */
function isBefore(a, b) {
  if (b.logId === undefined) return true;
  return a.logId !== undefined && a.logId < b.logId;
}

/** @param {MessageState} state */
function rank(state) {
  return state === "taken" || state === "shown" ? 2 : state === "sent" ? 1 : 0;
}
