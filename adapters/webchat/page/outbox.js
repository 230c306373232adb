/** @import { Reply, Unsent } from "./shapes.js" */
import { passing, strange } from "./api.js";

const pausesMs = [500, 1_000, 2_000, 4_000, 8_000];

/**
 * Sends what was typed, one after the other: a message is never overtaken by a later one, and never given up silently.
 * A message that waited says so to the server, which then does not take it for an answer to what came meanwhile.
 *
 * @param {{
 *   post: (message: Unsent) => Promise<Reply<unknown>>,
 *   onState: (id: string, state: "waiting" | "sending" | "sent" | "failed", failure?: string) => void,
 *   onStrange: () => void,
 *   storage: Pick<Storage, "getItem" | "setItem" | "removeItem"> | undefined,
 *   pause?: (ms: number) => Promise<void>,
 * }} options `storage` keeps what is unsent over a reload of this tab
 */
export function createOutbox({
  post,
  onState,
  onStrange,
  storage,
  pause = (ms) => new Promise((r) => setTimeout(r, ms)),
}) {
  const key = "dale-unsent";
  /** @type {Unsent[]} */
  const unsent = [];
  /** Refused for good: they wait for the person, and hold nobody up. @type {Unsent[]} */
  const refused = [];
  let running = false;
  /** Given up for now: goes on when told so. */
  let halted = false;

  function keep() {
    const all = [...refused, ...unsent];
    if (all.length === 0) storage?.removeItem(key);
    else storage?.setItem(key, JSON.stringify(all));
  }

  /** @param {Unsent} message @param {boolean} sent */
  function done(message, sent) {
    const index = unsent.indexOf(message);
    if (index >= 0) unsent.splice(index, 1);
    if (!sent) refused.push(message);
    keep();
  }

  async function run() {
    if (running) return;
    running = true;
    for (let tries = 0; !halted; ) {
      const [message] = unsent;
      if (!message) break;
      onState(message.id, "sending");
      const reply = await post(message);
      if (!unsent.includes(message)) continue;
      if (reply.ok) {
        tries = 0;
        done(message, true);
        onState(message.id, "sent");
      } else if (strange.has(reply.code)) {
        halted = true;
        onStrange();
      } else if (reply.code === "too_many") {
        onState(message.id, "waiting");
        await pause(reply.retryAfterMs ?? 2_000);
      } else if (!passing.has(reply.code)) {
        done(message, false);
        onState(message.id, "failed", reply.code);
      } else {
        const ms = pausesMs[tries++];
        if (ms !== undefined) {
          await pause(ms);
          continue;
        }
        halted = true;
        for (const each of unsent) onState(each.id, "failed", reply.code);
      }
    }
    running = false;
  }

  function go() {
    if (halted) for (const each of unsent) onState(each.id, "waiting");
    halted = false;
    void run();
  }

  return {
    /** What an earlier load of this tab left unsent. It waits for the person to say what to do. @returns {Unsent[]} */
    restore() {
      try {
        const kept = JSON.parse(storage?.getItem(key) ?? "[]");
        refused.push(...(Array.isArray(kept) ? kept.filter(isUnsent) : []));
      } catch {
        storage?.removeItem(key);
      }
      return [...refused];
    },
    /** @param {Unsent} message */
    add(message) {
      unsent.push(message);
      keep();
      onState(message.id, "waiting");
      go();
    },
    /** The line is back. */
    resume: () => {
      if (unsent.length > 0) go();
    },
    /** The person wants that one tried again. @param {Unsent} message */
    retry(message) {
      const index = refused.findIndex(({ id }) => id === message.id);
      if (index >= 0) refused.splice(index, 1);
      if (!unsent.some(({ id }) => id === message.id)) unsent.push(message);
      keep();
      onState(message.id, "waiting");
      go();
    },
    /** @param {string} id */
    discard(id) {
      for (const list of [unsent, refused]) {
        const index = list.findIndex((message) => message.id === id);
        if (index >= 0) list.splice(index, 1);
      }
      keep();
    },
    /** @param {string} id */
    find: (id) => [...unsent, ...refused].find((message) => message.id === id),
  };
}

/** @param {unknown} value @returns {value is Unsent} */
function isUnsent(value) {
  if (typeof value !== "object" || value === null) return false;
  const { id, text, typedAt, seen } = /** @type {Record<string, unknown>} */ (value);
  return typeof id === "string" && typeof text === "string" && typeof typedAt === "number" && typeof seen === "string";
}
