/** @import { Message } from "./shapes.js" */
/** @import { Words } from "./words.js" */
import { mayRetry } from "./api.js";

/** Messages of one side that follow each other so closely stand together. */
const togetherMs = 3 * 60_000;
const quoteLength = 140;

/**
 * The bubbles. Texts are only ever text nodes.
 *
 * @param {{
 *   list: HTMLElement,
 *   words: () => Words,
 *   author: () => string,
 *   find: (id: string) => Message | undefined,
 *   onRetry: (id: string) => void,
 *   onDiscard: (id: string) => void,
 *   mayDiscard: (id: string) => boolean,
 * }} options
 */
export function createThread({ list, words, author, find, onRetry, onDiscard, mayDiscard }) {
  /** @type {Map<string, ReturnType<typeof create>>} */
  const bubbles = new Map();

  /** @param {Message} message */
  function create(message) {
    const item = element("li", `message ${message.own ? "own" : "agent"}`);
    const day = element("div", "day");
    const bubble = element("div", "bubble");
    const who = element("span", "unseen");
    const text = element("p", "text");
    const meta = element("span", "meta");
    const time = element("time", "time");
    const tick = message.own ? ticks() : undefined;
    const trouble = element("div", "trouble");
    text.dir = "auto";
    fill(text, message);
    time.dateTime = new Date(message.at).toISOString();
    meta.append(time, ...(tick ? [tick] : []));
    bubble.append(who, ...quoteOf(message), text, meta);
    item.append(day, bubble, trouble);
    item.dataset.id = message.id;
    return { item, day, who, text, time, meta, tick, trouble };
  }

  /** @param {Message} message */
  function quoteOf({ replyTo, logId }) {
    const quoted = replyTo === undefined ? undefined : find(replyTo);
    if (!quoted?.own || logId === undefined) return [];
    const later = [...bubbles.keys()].some((id) => {
      const other = find(id);
      return other?.own && (other.logId ?? "~") > (quoted.logId ?? "~") && (other.logId ?? "~") < logId;
    });
    if (!later) return [];
    const quote = element("blockquote", "quote");
    quote.dir = "auto";
    quote.textContent = quoted.text.length > quoteLength ? `${quoted.text.slice(0, quoteLength)}…` : quoted.text;
    return [quote];
  }

  /** @param {Message} message @param {Message | undefined} previous @param {Message | undefined} next */
  function decorate(message, previous, next) {
    const bubble = bubbles.get(message.id);
    if (!bubble) return;
    const begins = !previous || dayOf(previous.at) !== dayOf(message.at);
    bubble.day.hidden = !begins;
    if (begins) bubble.day.textContent = dayName(message.at, words());
    bubble.item.classList.toggle("first", begins || !isTogether(previous, message));
    bubble.item.classList.toggle("last", !next || dayOf(next.at) !== dayOf(message.at) || !isTogether(message, next));
  }

  /** @param {Message} message */
  function tellState(message) {
    const bubble = bubbles.get(message.id);
    if (!bubble) return;
    bubble.who.textContent = `${message.own ? words().you : author()}: `;
    bubble.time.textContent = timeOf(message.at, words());
    bubble.item.dataset.state = message.state;
    if (!bubble.tick) return;
    const label = message.state === "shown" || message.state === "failed" ? words().notSent : words()[message.state];
    bubble.tick.setAttribute("aria-label", label);
    tellTrouble(message, bubble.trouble);
  }

  /** @param {Message} message @param {HTMLElement} trouble */
  function tellTrouble({ id, state, failure = "" }, trouble) {
    const actions = [
      ...(mayRetry(failure) ? [{ label: words().retry, act: onRetry }] : []),
      ...(mayDiscard(id) ? [{ label: words().discard, act: onDiscard }] : []),
    ];
    // What is shown already stays: a button that is about to be pressed must not vanish.
    const shown = state === "failed" ? [words().notSent, ...actions.map(({ label }) => label)].join("|") : "";
    if (trouble.dataset.shown === shown) return;
    trouble.dataset.shown = shown;
    const buttons = actions.map(({ label, act }) => button(label, () => act(id)));
    trouble.replaceChildren(...(shown === "" ? [] : [element("span", "why", words().notSent), ...buttons]));
  }

  return {
    /**
     * @param {Message} message
     * @param {{ previous: Message | undefined, next: Message | undefined }} neighbours
     * @returns {Element | undefined} the end of the bubble, when it is new
     */
    show(message, { previous, next }) {
      const known = bubbles.get(message.id);
      const bubble = known ?? create(message);
      bubbles.set(message.id, bubble);
      const following = next ? (bubbles.get(next.id)?.item ?? null) : null;
      if (!known || bubble.item.nextElementSibling !== following) list.insertBefore(bubble.item, following);
      decorate(message, previous, next);
      tellState(message);
      return known ? undefined : bubble.meta;
    },
    /** A neighbour came, went or moved. @param {readonly Message[]} messages all of them, in order */
    arrange(messages) {
      messages.forEach((message, index) => {
        decorate(message, messages[index - 1], messages[index + 1]);
      });
    },
    /** The language, the author's name or the day is another. @param {readonly Message[]} messages */
    relabel(messages) {
      for (const message of messages) tellState(message);
      this.arrange(messages);
    },
    /** @param {string} id */
    remove(id) {
      bubbles.get(id)?.item.remove();
      bubbles.delete(id);
    },
  };
}

/** @param {HTMLElement} text @param {Message} message */
function fill(text, { text: words, noticeFrom }) {
  if (noticeFrom === undefined || noticeFrom > words.length) {
    text.textContent = words;
    return;
  }
  // Both pieces together are exactly the text that was sent.
  const notice = element("span", "notice", words.slice(noticeFrom));
  notice.classList.toggle("after", noticeFrom > 0);
  text.append(words.slice(0, noticeFrom), notice);
}

/** @param {Message | undefined} earlier @param {Message | undefined} later */
function isTogether(earlier, later) {
  return (
    earlier !== undefined && later !== undefined && earlier.own === later.own && later.at - earlier.at < togetherMs
  );
}

/** @param {number} at */
function dayOf(at) {
  const date = new Date(at);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

/** @param {number} at @param {Words} words */
function dayName(at, words) {
  const today = dayOf(Date.now());
  if (dayOf(at) === today) return words.today;
  if (dayOf(at) === dayOf(today - 12 * 3_600_000)) return words.yesterday;
  const sameYear = new Date(at).getFullYear() === new Date().getFullYear();
  const name = new Intl.DateTimeFormat(formatOf(words), {
    weekday: "long",
    day: "numeric",
    month: "long",
    ...(sameYear ? {} : { year: "numeric" }),
  }).format(at);
  return name.charAt(0).toLocaleUpperCase(words.lang) + name.slice(1);
}

/** @param {number} at @param {Words} words */
function timeOf(at, words) {
  /** @type {Intl.DateTimeFormatOptions} */
  const clock = words.lang === "en" ? { timeStyle: "short" } : { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  return new Intl.DateTimeFormat(formatOf(words), clock).format(at);
}

/** The browser's own region where it speaks the page's language. @param {Words} words */
function formatOf({ lang }) {
  return navigator.languages.find((language) => language.slice(0, 2) === lang.slice(0, 2)) ?? lang;
}

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name @param {string} className @param {string} [text]
 */
function element(name, className, text) {
  const made = document.createElement(name);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

/** @param {string} label @param {() => void} onClick */
function button(label, onClick) {
  const made = element("button", "link", label);
  made.type = "button";
  made.addEventListener("click", onClick);
  return made;
}

/** Clock, one tick, two ticks: the stylesheet shows the one that fits the message's state. */
function ticks() {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 18 12");
  svg.setAttribute("class", "ticks");
  svg.setAttribute("role", "img");
  for (const [name, d] of [
    ["clock", "M9 1.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9M9 3.6V6l1.6 1.2"],
    ["tick one", "M4.2 6.4 7.4 9.6 14 2.6"],
    ["tick two", "M1 6.4 4.2 9.6 10.8 2.6M8.6 9 9.2 9.6 15.8 2.6"],
    ["mark", "M9 2v5M9 9.6v.2"],
  ]) {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("class", name ?? "");
    path.setAttribute("d", d ?? "");
    svg.append(path);
  }
  return svg;
}
