/** @import { Message, Reply } from "./shapes.js" */

const retryAfterMs = 3_000;

/**
 * Knows what the person can have seen, and tells the server: `delivered` once a message is really on a visible page,
 * `read` once its end was in view while the window had the focus. A message arrives in the order of the log, so each
 * level is one id: everything up to it.
 *
 * @param {{
 *   scroller: HTMLElement,
 *   post: (level: "delivered" | "read", ids: readonly string[]) => Promise<Reply<unknown>>,
 *   memory: { read: () => string | null, write: (value: string) => void },
 * }} options `memory` keeps over a reload what the server knows already
 */
export function createSightings({ scroller, post, memory }) {
  /** Messages of the agent, oldest first. @type {{ id: string, logId: string, end: Element }[]} */
  let watched = [];
  let deliveredUpTo = "";
  let readUpTo = "";
  let seenUpTo = "0";
  /** What the server knows: read when it is first needed, as nobody knows whose chat it is before. */
  let told = { delivered: "", read: "" };
  let recalled = false;
  /** @type {Promise<boolean> | undefined} */
  let telling;
  let looking = false;

  /** @param {Element} end */
  function isInView(end) {
    const { bottom } = end.getBoundingClientRect();
    const frame = scroller.getBoundingClientRect();
    const view = visualViewport;
    const lowest = Math.min(frame.bottom, view ? view.offsetTop + view.height : innerHeight);
    return bottom > frame.top && bottom <= lowest + 4;
  }

  function look() {
    if (document.visibilityState !== "visible") return;
    const newest = watched.findLast(({ end }) => end.getClientRects().length > 0);
    if (newest && newest.logId > deliveredUpTo) deliveredUpTo = newest.logId;
    const inView = watched.findLast(({ end, logId }) => logId <= seenUpTo || isInView(end));
    if (inView && inView.logId > seenUpTo) seenUpTo = inView.logId;
    if (document.hasFocus() && seenUpTo !== "0") readUpTo = seenUpTo;
  }

  /** After the next frame was painted: the browser paints none while the page is hidden. */
  function lookSoon() {
    if (looking) return;
    looking = true;
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        looking = false;
        look();
        void tell();
      }),
    );
  }

  /** @param {"delivered" | "read"} level @param {string} upTo */
  async function tellLevel(level, upTo) {
    const from = level === "read" || told.read > told.delivered ? told[level] : told.delivered;
    const ids = watched.filter(({ logId }) => logId > from && logId <= upTo).map(({ id }) => id);
    const reply = ids.length === 0 ? { ok: true } : await post(level, ids);
    if (!reply.ok) return false;
    told[level] = upTo;
    if (level === "read" && told.delivered < upTo) told.delivered = upTo;
    memory.write(JSON.stringify(told));
    return true;
  }

  async function tellAll() {
    if (!recalled) told = recall(memory.read());
    recalled = true;
    while (readUpTo > told.read || deliveredUpTo > told.delivered) {
      const level = readUpTo > told.read ? "read" : "delivered";
      if (!(await tellLevel(level, level === "read" ? readUpTo : deliveredUpTo))) return false;
    }
    return true;
  }

  async function tell() {
    if (watched.length === 0) return;
    telling ??= tellAll().finally(() => {
      telling = undefined;
    });
    if (!(await telling)) setTimeout(lookSoon, retryAfterMs);
  }

  scroller.addEventListener("scroll", lookSoon, { passive: true });
  addEventListener("focus", lookSoon);
  addEventListener("resize", lookSoon);
  document.addEventListener("visibilitychange", lookSoon);

  return {
    /** @param {Message} message @param {Element} end what stands at the end of its bubble */
    watch({ id, logId }, end) {
      if (logId === undefined) return;
      watched.push({ id, logId, end });
      if (watched.length > 1 && logId < (watched.at(-2)?.logId ?? "")) {
        watched.sort((a, b) => (a.logId < b.logId ? -1 : 1));
      }
      lookSoon();
    },
    /** Log id of the last message of the agent whose end the person had before their eyes; "0" when there is none. */
    seen() {
      look();
      return seenUpTo;
    },
    /** Resolves when the server knows all that was seen up to now, or does not answer. */
    async settle() {
      look();
      await tell();
    },
    clear() {
      watched = [];
    },
  };
}

/** @param {string | null} kept */
function recall(kept) {
  try {
    const { delivered, read } = JSON.parse(kept ?? "{}");
    if (typeof delivered === "string" && typeof read === "string") return { delivered, read };
  } catch {
    // Somebody else wrote there. What was told before is told once more.
  }
  return { delivered: "", read: "" };
}
