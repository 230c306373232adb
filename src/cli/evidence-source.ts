import { z } from "zod";
import { boot, type DaleConfig, type Loaded, openEvidenceHere, report } from "../app/index.js";
import type { ExportScope } from "../evidence/index.js";
import { sessionsNamed } from "../http/index.js";

/** Where a command gets evidence from. */
export interface EvidenceSource {
  /** JSONL, line by line, with the line feeds. */
  export(scope: ExportScope): AsyncIterable<string>;
  /** Of every session that the name stands for. */
  erase(session: string): Promise<boolean>;
  head(): Promise<SignedHead>;
  close(): Promise<void>;
}

export interface SignedHead {
  readonly public_key: string;
  readonly head: {
    readonly number: number;
    readonly at: string;
    readonly hash: string;
    readonly signature: string;
  } | null;
}

const signedHead = z.object({
  public_key: z.string(),
  head: z.object({ number: z.number(), at: z.string(), hash: z.string(), signature: z.string() }).nullable(),
});
const erased = z.object({ erased: z.boolean() });
const failure = z.object({ error: z.object({ message: z.string() }) });

/**
 * From the running Dale where there is one, by its API: an archive in the data folder is its own. Else from the archive
 * itself.
 * @returns undefined, and says why on stderr, where the configuration is bad
 */
export async function evidenceSource(file: string): Promise<EvidenceSource | undefined> {
  const booted = await boot(file, process.env);
  if (!booted.ok) {
    for (const line of report(booted, false).lines) console.error(line);
    return undefined;
  }
  const { config, loaded } = booted;
  return (await runningDale(config)) ?? (await archiveHere(config, loaded));
}

async function archiveHere(config: DaleConfig, { agents }: Loaded): Promise<EvidenceSource> {
  const desk = await openEvidenceHere(config);
  return {
    export: (scope) => desk.export(scope),
    async erase(name) {
      let erased = false;
      for (const session of sessionsNamed(name, agents)) erased = (await desk.erase(session)) || erased;
      return erased;
    },
    async head() {
      const { publicKey, block } = await desk.head();
      return { public_key: publicKey, head: block ? { ...block, at: new Date(block.at).toISOString() } : null };
    },
    close: () => desk.close(),
  };
}

async function runningDale(config: DaleConfig): Promise<EvidenceSource | undefined> {
  const { host, port, token } = config.http;
  if (port === 0) return undefined;
  const reached = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const base = `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}/v1/evidence`;
  const call = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const response = await fetch(`${base}${path}`, { ...init, headers });
    if (response.ok) return response;
    const said = failure.safeParse(await response.json().catch(() => undefined));
    throw new Error(said.success ? said.data.error.message : `Dale answers with ${response.status}.`);
  };
  const head = async () => signedHead.parse(await (await call("/head")).json());
  const answers = await fetch(`http://${new URL(base).host}/healthz`).then(
    (response) => response.ok,
    () => false,
  );
  if (!answers) return undefined;
  return {
    head,
    async *export({ session, proposal }) {
      const asked = new URLSearchParams({
        ...(session === undefined ? {} : { session }),
        ...(proposal === undefined ? {} : { proposal }),
      });
      const { body } = await call(`/export?${asked}`);
      if (body) yield* linesOf(body);
    },
    async erase(session) {
      const response = await call("/erase", { method: "POST", body: JSON.stringify({ session }) });
      return erased.parse(await response.json()).erased;
    },
    async close() {},
  };
}

/**
 * Lines as they stand, with their line feeds; what follows the last one too.
 * @throws TypeError where the bytes are no UTF-8: two files must never read the same
 */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });
  let rest = "";
  for await (const piece of bytes) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split(/(?<=\n)/);
    rest = lines.pop() ?? "";
    if (rest.endsWith("\n")) {
      lines.push(rest);
      rest = "";
    }
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}
