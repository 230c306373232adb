/** @import { Session } from "./shapes.js" */
import { openSession, postMessage, postReceipts } from "./api.js";
import { createComposer } from "./composer.js";
import { createOutbox } from "./outbox.js";
import { createPresence } from "./presence.js";
import { createScroll } from "./scroll.js";
import { createSightings } from "./sightings.js";
import { createStream } from "./stream.js";
import { createThread } from "./thread.js";
import { createTranscript } from "./transcript.js";
import { wordsFor } from "./words.js";

/** How long a message may stand in the log without the mark that it is enqueued, before its sender should worry. */
const unconfirmedAfterMs = 10_000;
const anewAtMostEveryMs = 60_000;
/** How long a message waits for the receipts of what was seen before it. */
const receiptsWithinMs = 1_500;

let words = wordsFor(navigator.language);
/** @type {Session | undefined} */
let session;

const scroller = /** @type {HTMLElement} */ (document.querySelector(".scroller"));
const list = /** @type {HTMLElement} */ (document.querySelector(".thread"));
const tabStorage = storageOf(() => sessionStorage);
const browserStorage = storageOf(() => localStorage);

const presence = createPresence({ words: () => words, onClick: () => stream.wake() });
const scroll = createScroll({
  scroller,
  content: /** @type {HTMLElement} */ (document.querySelector(".content")),
  pill: /** @type {HTMLButtonElement} */ (document.querySelector(".pill")),
  label: (news) => (news > 0 ? words.news(news) : words.down),
});
const thread = createThread({
  list,
  words: () => words,
  author: () => session?.title ?? "",
  find: (id) => transcript.get(id),
  onRetry: retry,
  onDiscard(id) {
    outbox.discard(id);
    transcript.remove(id);
    settle();
    focusComposer();
  },
  mayDiscard: (id) => transcript.get(id)?.logId === undefined,
});
const transcript = createTranscript(
  (message, neighbours) => {
    const end = thread.show(message, neighbours);
    if (end && !message.own) sightings.watch(message, end);
  },
  ({ id }) => thread.remove(id),
);
const sightings = createSightings({
  scroller,
  post: postReceipts,
  memory: {
    read: () => browserStorage?.getItem(receiptsKey()) ?? null,
    write: (value) => browserStorage?.setItem(receiptsKey(), value),
  },
});
const outbox = createOutbox({
  async post(message) {
    if (!session) return { ok: false, code: "offline", retryAfterMs: undefined };
    // A yes counts only after the receipt of what it answers: so the receipt goes first.
    await Promise.race([sightings.settle(), new Promise((resolve) => setTimeout(resolve, receiptsWithinMs))]);
    return await postMessage(session.chat, message);
  },
  onState: (id, state, failure) => transcript.become(id, state, failure),
  onStrange() {
    if (!startAnew()) presence.line("refused");
  },
  storage: tabStorage,
});
const composer = createComposer({
  form: /** @type {HTMLFormElement} */ (document.querySelector(".composer")),
  storage: tabStorage,
  onSubmit(text) {
    const message = { id: newId(), text, typedAt: Date.now(), seen: sightings.seen() };
    transcript.add(message, "waiting");
    outbox.add(message);
    settle();
    scroll.toEnd();
  },
});
const stream = createStream({
  async check() {
    const reply = await withLock(openSession);
    if (!reply.ok) return "away";
    if (session && session.chat !== reply.body.chat) return startAnew() ? "away" : "refused";
    session = reply.body;
    label();
    return "here";
  },
  onHistory({ resumed, entries }) {
    if (!resumed) {
      transcript.clear();
      sightings.clear();
    }
    const isFirst = scroller.getAttribute("aria-busy") === "true";
    let news = 0;
    for (const line of entries) if (transcript.apply(line) && line.kind === "agent") news++;
    settle();
    if (isFirst || !resumed) scroll.toEnd();
    else if (news > 0) scroll.grown(true);
    // Only what comes from now on is read out.
    requestAnimationFrame(() => scroller.removeAttribute("aria-busy"));
  },
  onEntry(line) {
    if (!transcript.apply(line)) return settle();
    const isAgents = line.kind === "agent";
    if (isAgents) presence.arrived();
    settle();
    scroll.grown(isAgents);
  },
  onSignal(signal) {
    if (signal.kind === "taken") return transcript.taken(signal.id);
    presence.typing();
    scroll.grown(false);
  },
  onState(state) {
    presence.line(state);
    if (state === "open") outbox.resume();
  },
});

/** Whatever changed, neighbours agree, and the outbox holds nothing that the log is known to have. */
function settle() {
  thread.arrange(transcript.all());
  for (const { id, state } of transcript.all()) {
    if ((state === "sent" || state === "taken") && outbox.find(id)) outbox.discard(id);
  }
  document.body.classList.toggle("empty", transcript.all().length === 0);
}

/** @param {string} id */
function retry(id) {
  const message = transcript.get(id);
  if (!message) return;
  const { text, at } = message;
  // From the log alone nobody knows what was on the screen then: so it answers nothing that came since.
  outbox.retry(outbox.find(id) ?? { id, text, typedAt: at, seen: "0" });
  focusComposer();
}

/** Not on a phone: its keyboard would cover half of the chat. */
function focusComposer() {
  if (matchMedia("(pointer: fine)").matches) composer.focus();
}

function label() {
  words = wordsFor(session?.locale ?? navigator.language);
  document.documentElement.lang = words.lang;
  scroller.setAttribute("aria-label", words.log);
  for (const each of document.querySelectorAll(".title")) each.textContent = session?.title ?? "";
  for (const each of document.querySelectorAll(".face")) {
    each.textContent = [...(session?.title ?? "")][0]?.toLocaleUpperCase(words.lang) ?? "";
  }
  const empty = document.querySelector(".hint");
  if (empty) empty.textContent = words.empty;
  composer.label(words, session?.maxTextLength ?? Number.POSITIVE_INFINITY);
  presence.label(session?.title ?? "");
  thread.relabel(transcript.all());
}

/**
 * The cookie is gone, or another: the page shows a chat that is not its own any more.
 * @returns {boolean} false when it was loaded again just now: then the browser keeps no cookies
 */
function startAnew() {
  const key = "dale-started-anew";
  const last = Number(tabStorage?.getItem(key) ?? Number.NaN);
  if (!navigator.cookieEnabled || !tabStorage || Date.now() - last < anewAtMostEveryMs) return false;
  tabStorage.setItem(key, String(Date.now()));
  location.reload();
  return true;
}

function receiptsKey() {
  return `dale-receipts:${session?.chat ?? ""}`;
}

/** Only pages of a secure context have `randomUUID`. */
function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/**
 * Two tabs that are opened at once would otherwise be given two chats.
 * @template T @param {() => Promise<T>} work @returns {Promise<T>}
 */
async function withLock(work) {
  return "locks" in navigator ? await navigator.locks.request("dale-session", work) : await work();
}

/** @param {() => Storage} open @returns {Storage | undefined} undefined where the browser keeps nothing */
function storageOf(open) {
  try {
    return open();
  } catch {
    return undefined;
  }
}

label();
for (const message of outbox.restore()) {
  transcript.add(message, "failed");
  transcript.become(message.id, "failed", "unconfirmed");
}
settle();
stream.start();
focusComposer();

/** Since when this page knows messages that stand in the log alone. @type {Map<string, number>} */
const unconfirmed = new Map();
let today = new Date().toDateString();
setInterval(() => {
  for (const { id, state, logId } of transcript.all()) {
    if (state !== "sending" || logId === undefined || outbox.find(id)) continue;
    const since = unconfirmed.get(id) ?? Date.now();
    unconfirmed.set(id, since);
    if (Date.now() - since >= unconfirmedAfterMs) transcript.become(id, "failed", "unconfirmed");
  }
  if (new Date().toDateString() === today) return;
  today = new Date().toDateString();
  thread.relabel(transcript.all());
}, 5_000);
