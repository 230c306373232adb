import type { BasicCredential, Connection, ManifestAuth } from "../spec/index.js";
import type { ConnectionOverrides } from "./tool.js";

/** Where a request goes and what it proves itself with. `redact` removes every form of the secrets that were sent. */
export interface Access {
  readonly baseUrl: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [name: string, value: string])[];
  redact(text: string): string;
}

/** The connection does not say what the call needs. The message is for model and operator and holds no secret. */
export class UnusableConnection extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UnusableConnection";
  }
}

/**
 * The connection of this run. What the run brings wins field by field; but a run that brings an address of its own must
 * bring the credentials too: those of the configuration are never sent to an address that the configuration did not name.
 */
export function runConnection(
  name: string | undefined,
  configured: ReadonlyMap<string, Connection>,
  overrides: ConnectionOverrides,
): Connection {
  const standing = name === undefined ? undefined : configured.get(name);
  const nothing: Connection = { name: name ?? "(none)", credentials: {} };
  if (name === undefined || !Object.hasOwn(overrides, name)) return standing ?? nothing;
  const { base_url: baseUrl, ...credentials } = overrides[name] ?? {};
  if (baseUrl !== undefined && baseUrl !== standing?.baseUrl) return { name, baseUrl, credentials };
  return { ...(standing ?? nothing), credentials: { ...standing?.credentials, ...credentials } };
}

/**
 * @param fallbackUrl the manifest's own address, used when the connection names none
 * @throws UnusableConnection
 */
export function openAccess(auth: ManifestAuth, connection: Connection, fallbackUrl?: string): Access {
  const baseUrl = connection.baseUrl ?? fallbackUrl;
  const plain = { baseUrl, headers: {}, query: [] };
  if (auth.scheme === "none") return { ...plain, redact: redactor([]) };
  if (auth.scheme === "basic") {
    const { username, password } = basicPair(connection, auth.credential);
    const token = Buffer.from(`${username}:${password}`, "utf8").toString("base64");
    return {
      ...plain,
      headers: { authorization: `Basic ${token}` },
      redact: redactor([`${username}:${password}`, password]),
    };
  }
  const secret = connection.credentials[auth.credential];
  if (typeof secret !== "string" || secret === "") throw missing(auth.credential, connection);
  if (auth.scheme === "query") return { ...plain, query: [[auth.paramName, secret]], redact: redactor([secret]) };
  if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(secret)) {
    throw new UnusableConnection(`${auth.credential} of the connection ${connection.name} cannot stand in a header`);
  }
  const header = auth.scheme === "header" ? auth.headerName.toLowerCase() : "authorization";
  const value = auth.scheme === "header" ? secret : `Bearer ${secret}`;
  return { ...plain, headers: { [header]: value }, redact: redactor([secret]) };
}

/** A mapping of both, or `user:password`, or the fields `username` and `password` of the connection itself. */
function basicPair(connection: Connection, field: string): BasicCredential {
  const held = connection.credentials[field];
  if (typeof held === "object") return held;
  if (held?.includes(":")) {
    const colon = held.indexOf(":");
    return { username: held.slice(0, colon), password: held.slice(colon + 1) };
  }
  const { username, password = held } = connection.credentials;
  if (typeof username !== "string" || typeof password !== "string") throw missing(field, connection);
  return { username, password };
}

function missing(field: string, connection: Connection): UnusableConnection {
  return new UnusableConnection(`the connection ${connection.name} does not hold ${field}`);
}

/** Shorter secrets are left alone: taking them out of a text would eat ordinary words, and they protect nothing. */
const shortestSecret = 4;

function redactor(secrets: readonly string[]): (text: string) => string {
  const forms = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < shortestSecret) continue;
    forms.add(secret);
    forms.add(JSON.stringify(secret).slice(1, -1));
    const token = Buffer.from(secret, "utf8").toString("base64");
    forms.add(token).add(token.replace(/=+$/, ""));
    try {
      forms.add(encodeURIComponent(secret));
    } catch (cause) {
      if (!(cause instanceof URIError)) throw cause;
    }
  }
  // The longest first, so that no form leaves the rest of a longer one behind.
  const ordered = [...forms].sort((a, b) => b.length - a.length);
  return (text) => ordered.reduce((left, form) => left.replaceAll(form, "[redacted]"), text);
}
