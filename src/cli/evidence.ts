import { createReadStream } from "node:fs";
import { type FileHandle, open, readFile, rename, rm } from "node:fs/promises";
import { DaleError } from "../errors/index.js";
import {
  type ExportScope,
  exportCsv,
  type Finding,
  isPublicKey,
  type KnownHead,
  reportHtml,
  type Verification,
  verifyExport,
} from "../evidence/index.js";
import { type EvidenceSource, evidenceSource, linesOf } from "./evidence-source.js";

interface ExportOptions {
  readonly config: string;
  readonly session?: string;
  readonly proposal?: string;
  readonly format: "jsonl" | "csv" | "html";
  readonly locale: "es" | "en";
  readonly out?: string;
}

/** Exit code 1 when there is nothing to export or the archive cannot be reached; a file that exists is replaced whole. */
export async function exportEvidence(options: ExportOptions): Promise<void> {
  const { session, proposal, format } = options;
  if (format === "html" && proposal === undefined)
    return fail("error: --format html is one page for one proposal: the option --proposal ID is missing.", 2);
  await withSource(options.config, async (source) => {
    const scope: ExportScope = {
      ...(session === undefined ? {} : { session }),
      ...(proposal === undefined ? {} : { proposal }),
    };
    if (format === "html" && proposal !== undefined) {
      const page = await reportHtml(proposal, options.locale, (of) => source.export({ ...scope, proposal: of }));
      if (page === undefined) return fail("There is no evidence of such a proposal.");
      return await write(options.out, [page]);
    }
    const lines = source.export(scope);
    await write(options.out, format === "csv" ? exportCsv(lines) : lines);
  });
}

interface VerifyOptions {
  readonly config: string;
  readonly key?: string;
  readonly head?: string;
}

/**
 * A file, with the public key alone; without a file the archive itself, against the installation's own key. Exit code 1
 * when anything is not as the installation wrote it.
 */
export async function verifyEvidence(file: string | undefined, options: VerifyOptions): Promise<void> {
  const known = options.head === undefined ? undefined : knownHead(options.head);
  if (options.head !== undefined && known === undefined) {
    return fail("--head: write a block's number and hash, like 1042:9f86d0….", 2);
  }
  if (file === undefined) {
    return await withSource(options.config, async (source) => {
      const { public_key: key } = await source.head();
      tell(await verifyExport(bare(source.export({})), key, known));
    });
  }
  if (options.key === undefined)
    return fail("--key: the file of the installation's public key (dale evidence key).", 2);
  const key = await readFile(options.key, "utf8").catch(() => undefined);
  if (key === undefined) return fail(`${options.key} cannot be read.`, 2);
  if (!isPublicKey(key)) return fail(`${options.key} is no public key of an installation.`, 2);
  const lines = linesOf(createReadStream(file));
  try {
    tell(await verifyExport(bare(lines), key, known));
  } catch (error) {
    // Bytes that are no UTF-8 were not written by us.
    if (error instanceof TypeError) return fail("BAD  The file is not text.\nThis is not what the installation wrote.");
    fail(`${file} cannot be read.`, 2);
  }
}

/** Prints the public key: what others verify with. */
export async function evidenceKey(options: { readonly config: string }): Promise<void> {
  await withSource(options.config, async (source) => {
    process.stdout.write((await source.head()).public_key);
  });
}

/** Prints the newest signed state, to be kept elsewhere: what is cut off later is found by `verify --head`. */
export async function evidenceHead(options: { readonly config: string }): Promise<void> {
  await withSource(options.config, async (source) => {
    const { head } = await source.head();
    if (!head) return fail("Nothing has been archived yet.");
    console.log(`${head.number}:${head.hash}`);
    console.error(`signed at ${head.at}: ${head.signature}`);
  });
}

/** Removes what the evidence tells of a person, for good. Exit code 1 when there is nothing of theirs. */
export async function eraseEvidence(options: { readonly config: string; readonly session: string }): Promise<void> {
  await withSource(options.config, async (source) => {
    if (!(await source.erase(options.session))) return fail("There is no evidence of this session.");
    console.log("Erased. The chain of what happened stays, and says of nobody that it was theirs.");
  });
}

async function withSource(config: string, work: (source: EvidenceSource) => Promise<void>): Promise<void> {
  let source: EvidenceSource | undefined;
  try {
    source = await evidenceSource(config);
    if (!source) {
      process.exitCode = 2;
      return;
    }
    await work(source);
  } catch (error) {
    fail(error instanceof DaleError || error instanceof Error ? error.message : String(error));
  } finally {
    await source?.close();
  }
}

/** To stdout, or beside the file and then in its place: half an export is none. */
async function write(out: string | undefined, pieces: AsyncIterable<string> | Iterable<string>): Promise<void> {
  if (out === undefined) {
    for await (const piece of pieces) {
      if (!process.stdout.write(piece)) await new Promise<void>((resolve) => process.stdout.once("drain", resolve));
    }
    return;
  }
  const making = `${out}.${process.pid}.part`;
  const file: FileHandle = await open(making, "wx", 0o600);
  try {
    for await (const piece of pieces) await file.write(piece);
    await file.sync();
  } catch (error) {
    await file.close();
    await rm(making, { force: true });
    throw error;
  }
  await file.close();
  await rename(making, out);
}

async function* bare(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield line.replace(/\n$/, "");
}

function knownHead(text: string): KnownHead | undefined {
  const [, number, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text.trim()) ?? [];
  return number === undefined || hash === undefined ? undefined : { number: Number(number), hash };
}

function tell({ ok, findings, scope, entries, chains, blocks, erased, head }: Verification): void {
  const many = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;
  console.log(
    `${many(entries, "entry").replace("entrys", "entries")} in ${many(chains, "chain")}, ${many(blocks, "block")}${erased > 0 ? `, ${erased} of the entries erased` : ""}`,
  );
  if (head)
    console.log(`signed up to block ${head.number}${head.at ? ` of ${head.at}` : ""}: ${head.number}:${head.hash}`);
  if (ok) {
    console.log(sayings[scope]);
    return;
  }
  for (const finding of findings) console.error(`BAD  ${finding.code}${placeOf(finding)}`);
  fail("This is not what the installation wrote.");
}

const sayings = {
  all: "Nothing was altered, dropped or reordered.",
  session:
    "Nothing of this session was altered, dropped or reordered. The file is an extract: of others it says nothing.",
  proposal:
    "Nothing was altered, dropped or reordered between the entries of this proposal. The file is an extract: of what came before and after it says nothing.",
};

function placeOf({ chain, seq, block, line }: Finding): string {
  const parts = [
    ...(line === undefined ? [] : [`line ${line}`]),
    ...(block === undefined ? [] : [`block ${block}`]),
    ...(chain === undefined ? [] : [`chain ${chain}`]),
    ...(seq === undefined ? [] : [`entry ${seq}`]),
  ];
  return parts.length > 0 ? `: ${parts.join(", ")}` : "";
}

function fail(message: string, code = 1): void {
  console.error(message);
  process.exitCode = code;
}
