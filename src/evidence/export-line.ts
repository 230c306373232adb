import { z } from "zod";
import { sealedPart } from "./seal.js";

/**
 * The lines of an export, JSON each (JSONL), in this order: one `evidence`, `block`s by number, then for every chain one
 * `chain` and its `entry`s by seq, and one `end`. Times are ISO 8601 in UTC, to the millisecond; hashes lower-case hex, bytes
 * base64. docs/evidence.md describes them for those who write a verifier of their own.
 */

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const place = z.int().min(1);
const time = z.iso.datetime({ precision: 3 });
const bytes = z.base64().refine((text) => Buffer.from(text, "base64").toString("base64") === text);

const header = z.strictObject({
  kind: z.literal("evidence"),
  version: z.literal(1),
  installation: z.string(),
  /** Ed25519, SPKI, PEM. Whoever verifies has it from elsewhere: this one is for reading only. */
  public_key: z.string(),
  /** Of what this is an export: of everything, of one session, or of one proposal and what lies between its entries. */
  scope: z.enum(["all", "session", "proposal"]),
  /** For scope `proposal`. */
  proposal: z.string().optional(),
  /** The last block when the export was begun; none where nothing was ever archived. */
  head: z.strictObject({ number: place, hash }).nullable(),
  exported_at: time,
});

const statement = z.strictObject({
  kind: z.enum(["head", "pruned", "erased"]),
  chain: z.string(),
  seq: place,
  hash,
});

const block = z.strictObject({
  kind: z.literal("block"),
  number: place,
  at: time,
  prev: hash,
  statements: z.array(statement),
  hash,
  signature: bytes,
});

const chain = z.strictObject({
  kind: z.literal("chain"),
  chain: z.string(),
  /** Seq of the first and of the last of its entries in this export. */
  from: place,
  to: place,
});

const entry = z.strictObject({
  kind: z.literal("entry"),
  chain: z.string(),
  seq: place,
  prev: hash,
  id: z.string(),
  at: time,
  type: z.string(),
  proposal: z.string(),
  agent: z.string(),
  tool: z.string(),
  digest: hash,
  hash,
  /** The sealed bytes, whose digest is `digest`; left out where the entry is here only as a link of its chain. */
  sealed: bytes.optional(),
  /** Opens `sealed`, and nothing else. */
  key: bytes.optional(),
  /** What was sealed, as it is read with `key`. */
  told: sealedPart.optional(),
});

const end = z.strictObject({
  kind: z.literal("end"),
  /** How many lines come before this one. */
  lines: z.int(),
  /** SHA-256 of those lines, each with its line feed. */
  digest: hash,
  /** Of the digest, by the installation. */
  signature: bytes,
});

export const exportLine = z.discriminatedUnion("kind", [header, block, chain, entry, end]);

export type ExportLine = z.infer<typeof exportLine>;
export type ExportHeader = z.infer<typeof header>;
export type ExportBlock = z.infer<typeof block>;
export type ExportChain = z.infer<typeof chain>;
export type ExportEntry = z.infer<typeof entry>;
