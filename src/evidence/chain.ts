import { createHash, type KeyObject, verify } from "node:crypto";
import { canonicalize, type JsonValue } from "../canonical/index.js";

/**
 * What makes the evidence checkable by somebody who does not trust us. Each session's entries are a chain: every entry
 * carries the hash of the one before it. Each time that entries are archived, a block names the new heads of the chains,
 * carries the hash of the block before it, and is signed by the installation. Hashes are SHA-256 over canonical JSON
 * (RFC 8785), in lower-case hex.
 */

/** What of an entry is in the clear, and what its hash covers. */
export interface LinkedEntry {
  readonly chain: string;
  /** From 1. */
  readonly seq: number;
  /** Hash of the entry before it; of the first one, `genesis`. */
  readonly prev: string;
  readonly id: string;
  /** Ms since 1970. */
  readonly at: number;
  readonly type: string;
  readonly proposal: string;
  readonly agent: string;
  readonly tool: string;
  /** SHA-256 of the sealed bytes, which need not be there any more. */
  readonly digest: string;
}

export function genesis(installation: string, chain: string): string {
  return hashOf(["dale-evidence-chain-v1", installation, chain]);
}

export function entryHash(entry: LinkedEntry): string {
  const { chain, seq, prev, id, at, type, proposal, agent, tool, digest } = entry;
  return hashOf(["dale-evidence-entry-v1", chain, seq, prev, id, at, type, proposal, agent, tool, digest]);
}

/** What a block states of a chain: `seq` and `hash` are those of an entry. */
export interface Statement {
  /**
   * `head`: the chain ends here. `pruned`: all up to here was removed, its time being over. `erased`: what the entries up
   * to here tell of a person was removed.
   */
  readonly kind: "head" | "pruned" | "erased";
  readonly chain: string;
  readonly seq: number;
  readonly hash: string;
}

export interface Block {
  /** From 1. */
  readonly number: number;
  /** Ms since 1970. */
  readonly at: number;
  /** Hash of the block before it; of the first one, 64 zeros. */
  readonly prev: string;
  readonly statements: readonly Statement[];
}

export const noBlock = "0".repeat(64);

export function blockHash(installation: string, block: Block): string {
  const { number, at, prev, statements } = block;
  const stated = statements.map(({ kind, chain, seq, hash }) => [kind, chain, seq, hash]);
  return hashOf(["dale-evidence-block-v1", installation, number, at, prev, stated]);
}

export function isSigned(hash: string, signature: Uint8Array, publicKey: KeyObject): boolean {
  return verify(null, Buffer.from(hash, "hex"), publicKey, signature);
}

export function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function hashOf(value: JsonValue): string {
  return createHash("sha256").update(canonicalize(value)).digest("hex");
}
