import { type Locale, noticePhrases } from "./locale.js";
import { visible } from "./visible.js";

/** JSON in memory; `src/canonical`'s JsonValue fits. */
export type NoticeValue =
  | null
  | boolean
  | number
  | string
  | readonly NoticeValue[]
  | { readonly [key: string]: NoticeValue };

export interface NoticeCall {
  readonly tool: string;
  /** In the order of the call. */
  readonly args: { readonly [key: string]: NoticeValue };
  /** Labels from the manifest; the technical names stay visible beside them. */
  readonly title?: string;
  /** By the argument's name, or by the dotted path of a nested one. */
  readonly argumentTitles?: Readonly<Record<string, string>>;
}

export interface NoticeStyle {
  readonly locale: Locale;
  /** Normalised words of consent; the notice asks for the first. */
  readonly words: readonly string[];
  /** Characters that the channel turns into formatting. */
  readonly formattingMarks: string;
  /** Longest text of one message, in UTF-16 code units. */
  readonly maxLength: number;
  /** In a group: the name of the person whose yes counts. */
  readonly addressee?: string;
}

export type WordedNotice =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: "too_long" };

/**
 * The text that says what will run: every argument, never shortened, and nothing of the model's wording. What it shows
 * determines the arguments: no two different calls have the same notice.
 */
export function wordNotice(call: NoticeCall, style: NoticeStyle): WordedNotice {
  const phrases = noticePhrases[style.locale];
  const show = (text: string) => visible(text, style.formattingMarks);
  const text = [
    `${phrases.ask} ${(style.words[0] ?? "").toUpperCase()}.`,
    ...(style.addressee === undefined ? [] : [`${phrases.only} ${shownText(style.addressee, show)}.`]),
    phrases.run,
    wordCall(call, style),
  ].join(" ");
  return text.length <= style.maxLength ? { ok: true, text } : { ok: false, reason: "too_long" };
}

/** The part of a notice that says what will run, for whoever else has to be shown a call. It asks for nothing. */
export function wordCall(call: NoticeCall, style: Pick<NoticeStyle, "locale" | "formattingMarks">): string {
  const phrases = noticePhrases[style.locale];
  const show = (text: string) => visible(text, style.formattingMarks);
  const labelled = (label: string | undefined, name: string) =>
    label === undefined ? name : `${shownText(label, show)} (${name})`;
  const shown = [...argumentsOf(call.args, show)].map(
    ({ name, path, value }) => `${labelled(titleOf(call.argumentTitles, path), name)}: ${value}`,
  );
  const tool = labelled(call.title, shownName(call.tool, show));
  return shown.length === 0 ? `${tool} ${phrases.nothing}` : `${tool} ${phrases.with} ${shown.join(", ")}`;
}

type Show = (text: string) => string;

interface Entry {
  /** As it is shown: `cliente.telefonos[0]`. */
  readonly name: string;
  /** Without indices and quotes: what titles are found by. */
  readonly path: string;
  readonly value: string;
}

function* argumentsOf(args: NoticeCall["args"], show: Show): Generator<Entry> {
  for (const key of Object.keys(args)) yield* entries(args[key] ?? null, shownName(key, show), key, show);
}

function* entries(value: NoticeValue, name: string, path: string, show: Show): Generator<Entry> {
  if (typeof value === "string") yield { name, path, value: shownText(value, show) };
  else if (typeof value !== "object" || value === null) yield { name, path, value: String(value) };
  else if (isList(value)) {
    if (value.length === 0) yield { name, path, value: "[]" };
    for (const [index, item] of value.entries()) yield* entries(item, `${name}[${index}]`, path, show);
  } else {
    const keys = Object.keys(value);
    if (keys.length === 0) yield { name, path, value: "{}" };
    for (const key of keys) {
      yield* entries(value[key] ?? null, `${name}.${shownName(key, show)}`, `${path}.${key}`, show);
    }
  }
}

function isList(value: NoticeValue): value is readonly NoticeValue[] {
  return Array.isArray(value);
}

function titleOf(titles: Readonly<Record<string, string>> | undefined, path: string): string | undefined {
  return titles && Object.hasOwn(titles, path) ? titles[path] : undefined;
}

const plainName = /^[\p{L}_][\p{L}\p{N}_-]*$/u;
/** What can be read as text without quotes: no comma, no parenthesis, and no full stop or colon before a space. */
const plainText = /^[\p{L}\p{N}@#$€/_+](?:[\p{L}\p{N}\p{M} _/@+#%$€&=?!'°*~-]|[.:](?! |$))*$/u;
const looksLikeAnotherType = /^(?:true|false|null|\+?\p{N}[\p{N}.]*(?:e[+-]?\p{N}+)?)$/iu;

function shownName(name: string, show: Show): string {
  return plainName.test(name) && show(name) === name ? name : quoted(name, show);
}

/** Plain where nobody could take it for something else, otherwise in quotes. */
function shownText(text: string, show: Show): string {
  const plain = plainText.test(text) && !looksLikeAnotherType.test(text) && show(text) === text;
  return plain ? text : quoted(text, show);
}

function quoted(text: string, show: Show): string {
  return `"${show(text).replaceAll('"', '\\"')}"`;
}
