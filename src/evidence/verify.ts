import { createHash, createPublicKey, type KeyObject } from "node:crypto";
import { isSigned } from "./chain.js";
import { type ExportHeader, type ExportLine, exportLine } from "./export-line.js";
import { BlockCheck, ChainCheck, type Finding, missingChains } from "./verify-chains.js";

/** A block's number and hash, kept where nobody who can write the archive can: since then nothing may be missing. */
export interface KnownHead {
  readonly number: number;
  readonly hash: string;
}

export interface Verification {
  /** Whether everything is as the installation wrote it. */
  readonly ok: boolean;
  /** The first hundred. */
  readonly findings: readonly Finding[];
  readonly scope: ExportHeader["scope"];
  readonly entries: number;
  readonly chains: number;
  readonly blocks: number;
  /** Entries whose content was erased, and says so under signature. */
  readonly erased: number;
  /** The newest signed state that the file reaches to. */
  readonly head?: KnownHead & { readonly at?: string };
}

const mostFindings = 100;

/**
 * Verifies an export, offline. Needs the public key alone, and believes nothing else.
 *
 * @param lines of the file, split at line feeds and without them
 * @param publicKey Ed25519, SPKI, PEM, from a source that is trusted
 * @throws TypeError when `publicKey` is none
 */
export async function verifyExport(
  lines: AsyncIterable<string> | Iterable<string>,
  publicKey: string,
  known?: KnownHead,
): Promise<Verification> {
  const reading = new ExportReading(publicKeyOf(publicKey), known);
  for await (const line of lines) reading.line(line);
  return reading.result();
}

/** Whether it is one of an installation: Ed25519, SPKI, PEM. */
export function isPublicKey(pem: string): boolean {
  try {
    return createPublicKey(pem).asymmetricKeyType === "ed25519";
  } catch {
    return false;
  }
}

function publicKeyOf(pem: string): KeyObject {
  if (!isPublicKey(pem)) throw new TypeError("This is no public key of an installation.");
  return createPublicKey(pem);
}

class ExportReading {
  readonly #key: KeyObject;
  readonly #known: KnownHead | undefined;
  readonly #findings: Finding[] = [];
  readonly #digest = createHash("sha256");
  readonly #seen = new Set<string>();
  #lines = 0;
  #header: ExportHeader | undefined;
  #blocks: BlockCheck | undefined;
  #blocksEnded = false;
  #chain: ChainCheck | undefined;
  #ended = false;
  #entries = 0;
  #erased = 0;
  #headAt: string | undefined;
  #knownSeen = false;

  constructor(key: KeyObject, known: KnownHead | undefined) {
    this.#key = key;
    this.#known = known;
  }

  readonly #found = (finding: Finding): void => {
    if (this.#findings.length < mostFindings) this.#findings.push(finding);
  };

  line(text: string): void {
    this.#lines += 1;
    const line = this.#lines;
    if (this.#ended) {
      // A file ends with a line feed: what follows the last one is nothing.
      if (text !== "") this.#found({ code: "line_out_of_order", line });
      return;
    }
    const parsed = parseLine(text);
    if (parsed?.kind !== "end") this.#digest.update(`${text}\n`);
    if (!parsed) this.#found({ code: "line_unreadable", line });
    else this.#take(parsed, line);
  }

  #take(parsed: ExportLine, line: number): void {
    if (!this.#header || !this.#blocks) {
      if (parsed.kind === "evidence" && line === 1) this.#begin(parsed);
      else this.#found({ code: "not_an_export", line });
      return;
    }
    switch (parsed.kind) {
      case "evidence":
        this.#found({ code: "line_out_of_order", line });
        return;
      case "block":
        if (this.#blocksEnded) this.#found({ code: "line_out_of_order", line });
        this.#headAt = parsed.at;
        if (parsed.number === this.#known?.number) {
          this.#knownSeen = true;
          if (parsed.hash !== this.#known.hash) this.#found({ code: "known_head_differs", block: parsed.number });
        }
        this.#blocks.block(parsed);
        return;
      case "chain":
        this.#endBlocks();
        this.#chain?.end();
        if (this.#seen.has(parsed.chain)) this.#found({ code: "line_out_of_order", line });
        this.#seen.add(parsed.chain);
        this.#chain = new ChainCheck(this.#header, parsed, this.#blocks.stated.get(parsed.chain), this.#found);
        return;
      case "entry":
        this.#entries += 1;
        if (parsed.sealed === undefined) this.#erased += 1;
        if (this.#chain) this.#chain.entry(parsed);
        else this.#found({ code: "line_out_of_order", line });
        return;
      case "end": {
        this.#ended = true;
        const digest = this.#digest.digest("hex");
        const signature = Buffer.from(parsed.signature, "base64");
        const whole = parsed.lines === line - 1 && parsed.digest === digest;
        if (!whole || !isSigned(parsed.digest, signature, this.#key)) this.#found({ code: "file_altered", line });
      }
    }
  }

  #begin(header: ExportHeader): void {
    this.#header = header;
    this.#blocks = new BlockCheck(header, this.#key, this.#found);
    const theirs = this.#key.export({ format: "pem", type: "spki" }).toString().trim();
    if (header.public_key.trim() !== theirs) this.#found({ code: "another_key" });
  }

  #endBlocks(): void {
    if (!this.#blocksEnded) this.#blocks?.end();
    this.#blocksEnded = true;
  }

  result(): Verification {
    this.#endBlocks();
    this.#chain?.end();
    if (!this.#ended) this.#found({ code: this.#header ? "file_cut_off" : "not_an_export" });
    if (this.#header?.scope === "all" && this.#blocks) {
      for (const chain of missingChains(this.#blocks.stated, this.#seen)) this.#found({ code: "chain_missing", chain });
    }
    const last = this.#blocks?.last;
    if (this.#known && !this.#knownSeen) this.#found({ code: "older_than_known_head", block: this.#known.number });
    return {
      ok: this.#findings.length === 0,
      findings: this.#findings,
      scope: this.#header?.scope ?? "all",
      entries: this.#entries,
      chains: this.#seen.size,
      blocks: this.#blocks?.count ?? 0,
      erased: this.#header?.scope === "proposal" ? 0 : this.#erased,
      ...(last && last.number > 0 ? { head: { ...last, ...(this.#headAt ? { at: this.#headAt } : {}) } } : {}),
    };
  }
}

function parseLine(text: string): ExportLine | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const parsed = exportLine.safeParse(value);
    // One text for one line: not a space more, nor a key twice.
    return parsed.success && JSON.stringify(value) === text ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
