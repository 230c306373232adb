/** @import { LogLine, Signal } from "./shapes.js" */

/** The server beats every 15 s. */
const silentAtMostMs = 40_000;
const pausesMs = [300, 1_000, 2_000, 5_000, 10_000];

/**
 * Follows the chat, and comes back by itself: after a broken line, after a sleep, when the network returns.
 *
 * @param {{
 *   check: () => Promise<"here" | "away" | "refused">,
 *   onHistory: (history: { resumed: boolean, entries: readonly LogLine[] }) => void,
 *   onEntry: (line: LogLine) => void,
 *   onSignal: (signal: Signal) => void,
 *   onState: (state: "open" | "lost" | "elsewhere" | "refused") => void,
 * }} options `check`: whether the server is there; `refused` where coming back would never help
 */
export function createStream({ check, onHistory, onEntry, onSignal, onState }) {
  /** @type {EventSource | undefined} */
  let source;
  /** Id that the server gave last. @type {string | undefined} */
  let last;
  let heardAt = 0;
  let tries = 0;
  let elsewhere = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  function drop() {
    source?.close();
    source = undefined;
  }

  function lost() {
    drop();
    onState("lost");
    clearTimeout(timer);
    timer = setTimeout(connect, pausesMs[Math.min(tries++, pausesMs.length - 1)]);
  }

  async function connect() {
    clearTimeout(timer);
    timer = undefined;
    elsewhere = false;
    drop();
    const found = await check();
    if (found === "refused") return onState("refused");
    if (found === "away") return lost();
    const opened = new EventSource(last === undefined ? "events" : `events?after=${encodeURIComponent(last)}`);
    source = opened;
    heardAt = Date.now();
    /** @param {string} name @param {(data: any) => void} take */
    const on = (name, take) =>
      opened.addEventListener(name, (event) => {
        if (opened !== source) return;
        heardAt = Date.now();
        if (event.lastEventId !== "") last = event.lastEventId;
        take(JSON.parse(event.data));
      });
    on("history", (history) => {
      tries = 0;
      onHistory(history);
      onState("open");
    });
    on("entry", onEntry);
    on("signal", onSignal);
    on("beat", () => undefined);
    on("moved", () => {
      drop();
      elsewhere = true;
      onState("elsewhere");
    });
    opened.addEventListener("error", () => {
      if (opened === source) lost();
    });
  }

  /** Somebody looks at the page, or the network is back. */
  function wake() {
    if (document.visibilityState === "hidden") return;
    const silent = Date.now() - heardAt > silentAtMostMs;
    if (elsewhere || (source && silent) || timer !== undefined) {
      tries = 0;
      void connect();
    }
  }

  return {
    start() {
      void connect();
      setInterval(() => {
        if (source && Date.now() - heardAt > silentAtMostMs) lost();
      }, 5_000);
      addEventListener("online", wake);
      addEventListener("focus", wake);
      addEventListener("pageshow", wake);
      addEventListener("offline", () => source && lost());
      document.addEventListener("visibilitychange", wake);
    },
    wake,
  };
}
