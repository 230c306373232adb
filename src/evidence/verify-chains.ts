import type { KeyObject } from "node:crypto";
import { blockHash, digestOf, entryHash, genesis, isSigned, noBlock, type Statement } from "./chain.js";
import type { ExportBlock, ExportChain, ExportEntry, ExportHeader } from "./export-line.js";
import { open } from "./seal.js";

/** Something that is not as the installation wrote it. */
export interface Finding {
  readonly code: FindingCode;
  /** Where: the chain and seq of an entry, the number of a block, the number of a line. */
  readonly chain?: string;
  readonly seq?: number;
  readonly block?: number;
  readonly line?: number;
}

export type FindingCode =
  /** The file itself. */
  | "not_an_export"
  | "line_unreadable"
  | "line_out_of_order"
  | "file_altered"
  | "file_cut_off"
  | "another_key"
  /** Blocks. */
  | "block_altered"
  | "block_not_signed"
  | "block_missing"
  | "block_out_of_order"
  /** Entries. */
  | "entry_altered"
  | "entry_missing"
  | "entry_out_of_order"
  | "entry_not_linked"
  | "entry_not_signed"
  | "content_altered"
  | "content_missing"
  | "content_unreadable"
  /** Chains. */
  | "chain_missing"
  | "beginning_missing"
  | "tail_missing"
  | "head_differs"
  /** Against a signed head that was kept elsewhere. */
  | "older_than_known_head"
  | "known_head_differs";

export type Found = (finding: Finding) => void;

/** What signed blocks state of one chain. */
interface Stated {
  readonly heads: Map<number, string>;
  readonly pruned: Map<number, string>;
  erasedUpTo: number;
  last: number;
}

/** Reads blocks in the order of their numbers, checks them, and remembers what they state. */
export class BlockCheck {
  readonly stated = new Map<string, Stated>();
  readonly #header: ExportHeader;
  readonly #key: KeyObject;
  readonly #found: Found;
  #last = { number: 0, hash: noBlock };
  count = 0;

  constructor(header: ExportHeader, key: KeyObject, found: Found) {
    this.#header = header;
    this.#key = key;
    this.#found = found;
  }

  get last(): { readonly number: number; readonly hash: string } {
    return this.#last;
  }

  block(block: ExportBlock): void {
    const { number, prev, hash, statements } = block;
    const at = Date.parse(block.at);
    this.count += 1;
    if (number <= this.#last.number) this.#found({ code: "block_out_of_order", block: number });
    else if (this.#header.scope === "all" && number > this.#last.number + 1) {
      this.#found({ code: "block_missing", block: this.#last.number + 1 });
    } else if (number === this.#last.number + 1 && prev !== this.#last.hash) {
      this.#found({ code: "block_altered", block: number });
    }
    if (blockHash(this.#header.installation, { number, at, prev, statements }) !== hash) {
      this.#found({ code: "block_altered", block: number });
    }
    this.#last = { number, hash };
    if (!isSigned(hash, Buffer.from(block.signature, "base64"), this.#key)) {
      this.#found({ code: "block_not_signed", block: number });
      return;
    }
    for (const statement of statements) this.#remember(statement);
  }

  /** All blocks were read. */
  end(): void {
    const { head, scope } = this.#header;
    if (scope !== "all") return;
    if (this.#last.number !== (head?.number ?? 0)) {
      this.#found({ code: "block_missing", block: this.#last.number + 1 });
    } else if (head && head.hash !== this.#last.hash) this.#found({ code: "block_altered", block: head.number });
  }

  #remember({ kind, chain, seq, hash }: Statement): void {
    const stated = this.stated.get(chain) ?? { heads: new Map(), pruned: new Map(), erasedUpTo: 0, last: 0 };
    this.stated.set(chain, stated);
    if (kind === "head") stated.heads.set(seq, hash);
    if (kind === "pruned") stated.pruned.set(seq, hash);
    if (kind === "erased") stated.erasedUpTo = Math.max(stated.erasedUpTo, seq);
    stated.last = Math.max(stated.last, seq);
  }
}

/** Reads one chain's entries in their order and checks them against each other and against what blocks state. */
export class ChainCheck {
  readonly #header: ExportHeader;
  readonly #chain: ExportChain;
  readonly #stated: Stated | undefined;
  readonly #found: Found;
  #next: number;
  #prev: string | undefined;
  #signedUpTo = 0;

  constructor(header: ExportHeader, chain: ExportChain, stated: Stated | undefined, found: Found) {
    this.#header = header;
    this.#chain = chain;
    this.#stated = stated;
    this.#found = (finding) => found({ chain: chain.chain, ...finding });
    this.#next = chain.from;
    this.#prev = this.#beginning();
  }

  /** What the first entry here has to be linked to; unknown in an extract that begins in the middle. */
  #beginning(): string | undefined {
    const { from, chain } = this.#chain;
    if (from === 1) return genesis(this.#header.installation, chain);
    const pruned = this.#stated?.pruned.get(from - 1);
    if (pruned === undefined && this.#header.scope !== "proposal") {
      this.#found({ code: "beginning_missing", seq: from });
    }
    return pruned;
  }

  entry(entry: ExportEntry): void {
    const { seq, prev, hash } = entry;
    if (entry.chain !== this.#chain.chain || seq < this.#next) {
      this.#found({ code: "entry_out_of_order", seq });
      return;
    }
    if (seq > this.#next) this.#found({ code: "entry_missing", seq: this.#next });
    else if (this.#prev !== undefined && prev !== this.#prev) this.#found({ code: "entry_not_linked", seq });
    if (entryHash({ ...entry, at: Date.parse(entry.at) }) !== hash) this.#found({ code: "entry_altered", seq });
    const head = this.#stated?.heads.get(seq);
    if (head !== undefined) {
      if (head !== hash) this.#found({ code: "head_differs", seq });
      else this.#signedUpTo = seq;
    }
    this.#content(entry);
    this.#next = seq + 1;
    this.#prev = hash;
  }

  #content({ seq, id, proposal, digest, sealed, key, told }: ExportEntry): void {
    const wanted = this.#header.scope !== "proposal" || proposal === this.#header.proposal;
    if (sealed === undefined) {
      if (key !== undefined || told !== undefined) this.#found({ code: "content_altered", seq });
      else if (wanted && seq > (this.#stated?.erasedUpTo ?? 0)) this.#found({ code: "content_missing", seq });
      return;
    }
    const bytes = Buffer.from(sealed, "base64");
    if (digestOf(bytes) !== digest) {
      this.#found({ code: "content_altered", seq });
      return;
    }
    const part = key === undefined ? undefined : open(bytes, Buffer.from(key, "base64"), id);
    if (!part) this.#found({ code: "content_unreadable", seq });
    else if (!told || !sameJson(part, told)) this.#found({ code: "content_altered", seq });
  }

  /** All of its entries were read. */
  end(): void {
    const last = this.#next - 1;
    if (last !== this.#chain.to) this.#found({ code: "entry_missing", seq: Math.min(this.#next, this.#chain.to) });
    if (this.#header.scope !== "proposal" && (this.#stated?.last ?? 0) > last) {
      this.#found({ code: "tail_missing", seq: this.#next });
    }
    if (this.#signedUpTo < last) this.#found({ code: "entry_not_signed", seq: this.#signedUpTo + 1 });
  }
}

/** Chains that blocks speak of and that are neither here nor removed by rule. */
export function missingChains(stated: ReadonlyMap<string, Stated>, seen: ReadonlySet<string>): readonly string[] {
  return [...stated]
    .filter(([chain, { last, pruned }]) => !seen.has(chain) && !pruned.has(last))
    .map(([chain]) => chain);
}

function sameJson(one: unknown, other: unknown): boolean {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && sameJson(Reflect.get(one, key), Reflect.get(other, key)))
  );
}
