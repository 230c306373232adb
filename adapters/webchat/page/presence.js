/** @import { Words } from "./words.js" */

/** A typing signal is renewed every few seconds for as long as it is true. */
const typingForMs = 7_000;
/** A line that is back so soon was hardly away. */
const quietMs = 1_200;

/**
 * What the page says of the other side and of the line: the header's second line, the dots, the banner, the tab's title.
 *
 * @param {{ words: () => Words, onClick: () => void }} options
 */
export function createPresence({ words, onClick }) {
  const status = /** @type {HTMLElement} */ (document.querySelector(".status"));
  const dots = /** @type {HTMLElement} */ (document.querySelector(".typing"));
  const banner = /** @type {HTMLButtonElement} */ (document.querySelector(".banner"));
  /** @type {"connecting" | "open" | "lost" | "elsewhere" | "refused"} */
  let state = "connecting";
  let isTyping = false;
  let title = "";
  let unread = 0;
  let isLate = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typingEnds;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let late;

  function show() {
    const { online, connecting, reconnecting, offline, elsewhere, refused, typing } = words();
    const away = state === "lost" && isLate;
    document.body.dataset.line = state === "lost" && !isLate ? "open" : state;
    dots.hidden = !isTyping || state !== "open";
    status.textContent =
      state === "connecting" || state === "refused"
        ? connecting
        : away
          ? reconnecting
          : isTyping && state === "open"
            ? typing
            : online;
    const why =
      state === "elsewhere" ? elsewhere : state === "refused" ? refused : navigator.onLine ? reconnecting : offline;
    banner.hidden = !(away || state === "elsewhere" || state === "refused");
    if (banner.textContent !== why) banner.textContent = why;
    document.title = unread > 0 ? `(${unread}) ${title}` : title;
  }

  function quiet() {
    clearTimeout(typingEnds);
    isTyping = false;
  }

  function looked() {
    if (document.visibilityState !== "visible" || unread === 0) return;
    unread = 0;
    show();
  }

  banner.addEventListener("click", onClick);
  document.addEventListener("visibilitychange", looked);

  return {
    /** @param {string} name of the one who answers */
    label(name) {
      title = name;
      show();
    },
    /** @param {"open" | "lost" | "elsewhere" | "refused"} next */
    line(next) {
      if (next !== "lost") {
        clearTimeout(late);
        late = undefined;
        isLate = false;
      } else {
        late ??= setTimeout(() => {
          isLate = true;
          show();
        }, quietMs);
      }
      if (!(state === "connecting" && next === "lost" && !isLate)) state = next;
      show();
    },
    typing() {
      quiet();
      isTyping = true;
      typingEnds = setTimeout(() => {
        quiet();
        show();
      }, typingForMs);
      show();
    },
    /** A message of the other side is here. */
    arrived() {
      quiet();
      if (document.visibilityState !== "visible") unread++;
      show();
    },
  };
}
