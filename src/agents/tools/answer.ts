import type { OpenAnswer } from "./http-client.js";
import { readAll } from "./http-client.js";
import { parseExactly } from "./select.js";
import type { ToolResult } from "./tool.js";

/** What a server said, as text; `json` is there when it is JSON. */
export interface TextAnswer {
  readonly status: number;
  readonly headers: OpenAnswer["headers"];
  readonly text: string;
  readonly json?: { readonly value: unknown };
}

/** Content types that may reach a model. */
const textual =
  /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|yaml)\b|application\/(?:x-ndjson|x-yaml|problem\+json)\b)/i;

/** @returns `not_text` when the body is something else; it is not read then. @throws HttpFault */
export async function readText(answer: OpenAnswer): Promise<TextAnswer | "not_text"> {
  const type = answer.headers["content-type"]?.trim() ?? "";
  const { status, headers } = answer;
  if (type !== "" && !textual.test(type)) {
    answer.body.destroy();
    return hasNoBody(answer) ? { status, headers, text: "" } : "not_text";
  }
  const bytes = await readAll(answer.body);
  if (type === "" && !isText(bytes)) return "not_text";
  const text = decode(bytes, /charset\s*=\s*"?([\w.:-]+)/i.exec(type)?.[1]);
  const json = parse(text, type);
  return { status, headers, text, ...(json && { json }) };
}

function hasNoBody(answer: OpenAnswer): boolean {
  return answer.status === 204 || answer.headers["content-length"] === "0";
}

function isText(bytes: Buffer): boolean {
  try {
    return !new TextDecoder("utf-8", { fatal: true }).decode(bytes).includes("\u0000");
  } catch {
    return false;
  }
}

function decode(bytes: Buffer, charset = "utf-8"): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

function parse(text: string, type: string): { value: unknown } | undefined {
  if (type !== "" && !/json/i.test(type)) return undefined;
  try {
    return { value: parseExactly(text) };
  } catch {
    return undefined;
  }
}

/** Cuts a text to what a model may be handed, between characters, and says so. */
export function trim(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const cut = text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, "");
  return `${cut}\n[Cut here: ${cut.length} of ${text.length} characters. Ask for less to see the rest.]`;
}

/**
 * A status that is no success. Gateways that got no answer themselves (502, 504) leave it open whether the call was
 * carried out; every other status is the server's own word that it was not.
 */
export function refusedResult(status: number, detail: string): ToolResult {
  const uncertain = status === 502 || status === 504;
  const note = uncertain ? " It is not known whether the call was carried out." : "";
  const said = detail.trim() === "" ? "" : `\n${trim(detail.trim(), 2000)}`;
  return {
    ok: false,
    code: `http_${status}`,
    content: `The server answered with status ${status}.${note}${said}`,
    uncertain,
  };
}
