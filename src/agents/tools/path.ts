import { fillText, leftOut, placeholders, UnfitArgument, type Values } from "./template.js";

/**
 * The path of a request. Each parameter is percent-encoded and can neither leave its segment nor make the segment vanish:
 * servers and proxies disagree on what `%2F`, `%5C`, `..;x` or a doubly encoded `%252e` mean, so all of these are refused.
 * @param template literal text with `{param}`; no query, no fragment
 * @param allowSlash parameters whose value may hold `/`; their segments are checked one by one
 * @throws UnfitArgument
 */
export function fillPath(template: string, values: Values, allowSlash: ReadonlySet<string>): string {
  return encodeLiteral(template)
    .split("/")
    .map((segment) => (uses(segment, values) ? fillSegment(segment, values, allowSlash) : segment))
    .join("/");
}

/** One segment of the template; several in the result where a parameter may hold slashes. */
function fillSegment(template: string, values: Values, allowSlash: ReadonlySet<string>): string {
  const filled = fillText(template, values, (text, name) => {
    for (const form of decodings(text)) refuseControls(form, name);
    const parts = allowSlash.has(name) ? text.split("/") : [text];
    for (const part of parts) refuseSeparators(part, name);
    return parts.map((part) => percentEncode(part, name)).join("/");
  });
  if (filled === leftOut) throw new UnfitArgument("an argument that is part of the address is missing");
  for (const segment of filled.split("/")) {
    if (segment === "") throw new UnfitArgument("an argument that is part of the address is empty");
    if (decodings(segment).some(isDots)) {
      throw new UnfitArgument("an argument would change the address: it is only dots");
    }
  }
  return filled;
}

function uses(template: string, values: Values): boolean {
  return placeholders(template).some((name) => values.declared.has(name));
}

/** A text and what it becomes when servers decode it once more, or twice. */
function decodings(text: string): string[] {
  const forms = [text];
  for (let round = 0; round < 3; round++) {
    const last = forms.at(-1) ?? "";
    const next = last.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    if (next === last) break;
    forms.push(next);
  }
  return forms;
}

/** `.`, `..`, and what some servers cut down to them: path parameters (`..;x`), trailing blanks and dots. */
function isDots(segment: string): boolean {
  return /^\.[.\s]*(;.*)?$/s.test(segment);
}

function refuseSeparators(segment: string, name: string): void {
  if (decodings(segment).some((form) => /[/\\]/.test(form))) {
    throw new UnfitArgument(`${name} may not hold a slash: it is part of the address`);
  }
}

function refuseControls(text: string, name: string): void {
  if (/[\u0000-\u001f\u007f]/.test(text)) {
    throw new UnfitArgument(`${name} may not hold control characters: it is part of the address`);
  }
}

/** What a manifest may write in an address as people do, and what a request line cannot hold. Placeholders stay. */
export function encodeLiteral(template: string): string {
  return template.replace(/[^\u0021-\u007e]|["<>^`|]/gu, (character) => encodeURIComponent(character));
}

/** @throws UnfitArgument for a lone surrogate, which has no UTF-8 form */
export function percentEncode(text: string, name: string): string {
  try {
    return encodeURIComponent(text);
  } catch (cause) {
    if (cause instanceof URIError) throw new UnfitArgument(`${name} is not well-formed Unicode`);
    throw cause;
  }
}
