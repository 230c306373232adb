import type { JsonObject, JsonValue } from "../../canonical/index.js";
import type { ActionDefinition } from "../spec/index.js";
import { type Access, UnusableConnection } from "./credential.js";
import { isRecord } from "./parameters.js";
import { encodeLiteral, fillPath, percentEncode } from "./path.js";
import { asText, fill, fillText, leftOut, UnfitArgument, type Values } from "./template.js";

/** A request, whole and final: nothing of it is interpreted again on its way out. */
export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  /** Exactly what stands in the request line. */
  readonly target: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** What of an action or operation decides how its request looks. */
export type RequestShape = Pick<ActionDefinition, "parameters" | "request"> &
  Partial<Pick<ActionDefinition, "allowSlash" | "idempotencyHeader">>;

export interface RequestParts {
  readonly shape: RequestShape;
  readonly values: Values;
  readonly access: Access;
  /** Of the manifest, under those of the action. */
  readonly headers: Readonly<Record<string, string>>;
  readonly idempotencyKey: string;
  /** Query entries that paging adds; they replace the action's own of the same name. */
  readonly paging?: readonly (readonly [string, string])[];
}

/**
 * Arguments with the declared defaults of those that were not given.
 * @param implicit names that are placeholders without being parameters of the manifest
 */
export function valuesOf(shape: RequestShape, args: JsonObject, implicit: readonly string[] = []): Values {
  const given = new Map<string, JsonValue>(Object.entries(args));
  for (const parameter of shape.parameters) {
    if (!given.has(parameter.name) && parameter.default !== undefined) given.set(parameter.name, parameter.default);
  }
  return { declared: new Set([...shape.parameters.map((parameter) => parameter.name), ...implicit]), given };
}

/**
 * @throws UnfitArgument when an argument cannot stand where the manifest puts it
 * @throws UnusableConnection when the address is missing or malformed
 */
export function buildRequest(parts: RequestParts): HttpRequest {
  const { shape, values, access } = parts;
  const base = parseBaseUrl(access.baseUrl);
  const [pathTemplate = "", queryTemplate] = splitOnce(shape.request.path, "?");
  const filled = fillPath(
    pathTemplate.startsWith("/") ? pathTemplate : `/${pathTemplate}`,
    values,
    new Set(shape.allowSlash),
  );
  const path = `${base.pathname.replace(/\/+$/, "")}${filled}`;
  const query = queryText(parts, queryTemplate);
  const target = query === "" ? path : `${path}?${query}`;
  const url = new URL(base.origin + target);
  // The last word on traversal: whatever a URL parser would still rewrite is not what the manifest and the arguments said.
  if (url.pathname !== path || url.origin !== base.origin)
    throw new UnfitArgument("an argument would change the address");
  const headers = requestHeaders(parts);
  const body = requestBody(parts, headers);
  return { method: shape.request.method, url, target, headers, ...(body && { body }) };
}

/** @throws UnusableConnection */
export function parseBaseUrl(text: string | undefined): URL {
  if (text === undefined) throw new UnusableConnection("neither the connection nor the manifest gives a base_url");
  if (!URL.canParse(text)) throw new UnusableConnection("its base_url is not a URL");
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new UnusableConnection("its base_url is not http(s)");
  if (url.username || url.password || url.search || url.hash) {
    throw new UnusableConnection("its base_url may hold neither credentials nor a query");
  }
  return url;
}

function queryText({ shape, values, access, paging = [] }: RequestParts, inPath: string | undefined): string {
  const paged = new Set(paging.map(([name]) => name));
  const entries: string[] = [];
  if (inPath !== undefined) {
    for (const entry of encodeLiteral(inPath).split("&")) {
      const text = fillText(entry, values, percentEncode);
      if (text !== leftOut) entries.push(text);
    }
  }
  for (const [name, template] of Object.entries(shape.request.query)) {
    if (paged.has(name)) continue;
    const value = fill(template, values);
    if (value === leftOut || value === null) continue;
    for (const item of Array.isArray(value) ? value : [value]) entries.push(pair(name, asText(item)));
  }
  for (const [name, value] of [...paging, ...access.query]) entries.push(pair(name, value));
  return entries.join("&");
}

function pair(name: string, value: string): string {
  return `${percentEncode(name, name)}=${percentEncode(value, name)}`;
}

/** Names that the connection itself writes, or that would make one request into two. */
const reservedHeaders = new Set(
  "host connection content-length transfer-encoding te trailer upgrade keep-alive proxy-connection expect accept-encoding".split(
    " ",
  ),
);

function requestHeaders({ shape, values, access, headers, idempotencyKey }: RequestParts): Record<string, string> {
  const all: Record<string, string> = {
    accept: "application/json, text/*;q=0.8",
    "accept-encoding": "gzip, deflate, br",
    "user-agent": "dale",
  };
  const put = (name: string, value: string): void => {
    const lower = name.toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(lower) || reservedHeaders.has(lower)) {
      throw new UnusableConnection(`the header ${name.slice(0, 64)} may not be set`);
    }
    if (!/^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/.test(value)) {
      throw new UnfitArgument(`the header ${name} may hold neither line breaks nor other than Latin-1 characters`);
    }
    all[lower] = value;
  };
  for (const [name, value] of Object.entries(headers)) put(name, String(value));
  for (const [name, template] of Object.entries(shape.request.headers)) {
    const value = fill(template, values);
    if (value !== leftOut && value !== null) put(name, asText(value));
  }
  // Last, so that no manifest header and no argument can take the place of the credential or the key.
  for (const [name, value] of Object.entries(access.headers)) put(name, value);
  if (shape.idempotencyHeader !== undefined) put(shape.idempotencyHeader, idempotencyKey);
  return all;
}

/** JSON, unless the manifest's own content-type asks for a form or for plain text. Sets the type where none was given. */
function requestBody({ shape, values }: RequestParts, headers: Record<string, string>): Buffer | undefined {
  if (shape.request.body === undefined || shape.request.body === null) return undefined;
  const body = fill(shape.request.body, values);
  if (body === leftOut) return undefined;
  const type = headers["content-type"]?.toLowerCase() ?? "";
  if (type.startsWith("application/x-www-form-urlencoded") && isRecord(body)) {
    const fields = Object.entries(body).filter(([, value]) => value !== null);
    return Buffer.from(
      fields
        .flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((item) => pair(name, asText(item))))
        .join("&"),
    );
  }
  if (type.startsWith("text/") && typeof body === "string") return Buffer.from(body);
  headers["content-type"] ??= "application/json";
  return Buffer.from(JSON.stringify(body));
}

function splitOnce(text: string, at: string): [string, string | undefined] {
  const index = text.indexOf(at);
  return index === -1 ? [text, undefined] : [text.slice(0, index), text.slice(index + 1)];
}
