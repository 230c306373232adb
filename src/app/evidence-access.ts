import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { JsonValue } from "../canonical/index.js";
import { DaleError } from "../errors/index.js";
import type {
  EvidenceArchive,
  EvidenceEntry,
  EvidenceJournal,
  EvidenceReader,
  ExportScope,
  SignedBlock,
} from "../evidence/index.js";
import type { OwnerDesk } from "./evidence-owner.js";

/** The archive, as anybody in this installation may use it. Methods throw DaleError `archive_unavailable`, and so on. */
export interface ArchiveAccess extends EvidenceReader {
  /** JSONL, line by line, with the line feeds. What waits in the journal is moved first. */
  export(scope: ExportScope): AsyncIterable<string>;
  /** @returns whether there was anything of theirs */
  erase(session: string): Promise<boolean>;
  head(): Promise<ArchiveHead>;
}

export interface ArchiveHead {
  /** Ed25519, SPKI, PEM. */
  readonly publicKey: string;
  /** Absent where nothing was ever archived. */
  readonly block?: Pick<SignedBlock, "number" | "at" | "hash" | "signature">;
}

export interface OwnArchive {
  readonly archive: EvidenceArchive;
  readonly journal: EvidenceJournal;
  readonly publicKey: string;
  /** Moves what waits in the journal. */
  move(): Promise<unknown>;
}

/** For a process that has the archive at hand. */
export function ownArchive({ archive, journal, publicKey, move }: OwnArchive): ArchiveAccess {
  return {
    list: (query) => archive.list(query),
    async *export(scope) {
      await move();
      yield* archive.export(scope);
    },
    async erase(session) {
      await move();
      const [left = []] = await journal.waiting([session], 1);
      if (left.length > 0) {
        throw new DaleError("evidence_refused", "Entries of this session cannot be archived; nothing was erased.");
      }
      return await archive.erase(session);
    },
    async head() {
      const block = await archive.head();
      if (!block) return { publicKey };
      const { number, at, hash, signature } = block;
      return { publicKey, block: { number, at, hash, signature } };
    },
  };
}

const query = z.strictObject({
  session: z.string().optional(),
  proposal: z.string().optional(),
  limit: z.number().optional(),
  all: z.boolean().optional(),
});
const scope = query.pick({ session: true, proposal: true });
const started = z.strictObject({ reading: z.string() });
const page = z.strictObject({ lines: z.array(z.string()), done: z.boolean() });
const block = z.strictObject({ number: z.number(), at: z.number(), hash: z.string(), signature: z.string() });
const head = z.strictObject({ publicKey: z.string(), block: block.optional() });

const linesAtOnce = 200;
/** How long an export that nobody goes on reading is kept open, ms. */
const readingMs = 60_000;
/** Moving and opening come first. */
const patienceMs = 60_000;

/** For a process that has to ask the one that owns it. */
export function askedArchive(owner: OwnerDesk): ArchiveAccess {
  return {
    list: async (wanted) => (await owner.ask("list", { ...wanted })) as readonly EvidenceEntry[],
    async *export(wanted) {
      const { reading } = started.parse(await owner.ask("export", { ...wanted }, patienceMs));
      for (;;) {
        const { lines, done } = page.parse(await owner.ask("export_next", { reading }, patienceMs));
        yield* lines;
        if (done) return;
      }
    },
    erase: async (session) => z.boolean().parse(await owner.ask("erase", { session }, patienceMs)),
    async head() {
      const { publicKey, block: last } = head.parse(await owner.ask("head", {}));
      return { publicKey, ...(last ? { block: last } : {}) };
    },
  };
}

/** What the owner answers to `askedArchive`. */
export function answersOf(access: ArchiveAccess): (question: string, about: unknown) => Promise<JsonValue> {
  const readings = new Map<string, { readonly lines: AsyncIterator<string>; timer: NodeJS.Timeout }>();
  const forgetLater = (reading: string) => setTimeout(() => readings.delete(reading), readingMs).unref();

  return async (question, about) => {
    switch (question) {
      case "list":
        return (await access.list(present(query.parse(about)))).map((entry) => ({
          ...entry,
          detail: { ...entry.detail },
        }));
      case "head": {
        const { publicKey, block: last } = await access.head();
        return { publicKey, ...(last ? { block: { ...last } } : {}) };
      }
      case "erase":
        return await access.erase(z.strictObject({ session: z.string() }).parse(about).session);
      case "export": {
        const reading = randomUUID();
        const lines = access.export(present(scope.parse(about)))[Symbol.asyncIterator]();
        readings.set(reading, { lines, timer: forgetLater(reading) });
        return { reading };
      }
      case "export_next": {
        const { reading } = started.parse(about);
        const open = readings.get(reading);
        if (!open) throw new DaleError("archive_unavailable", "This export is not open any more: begin again.");
        clearTimeout(open.timer);
        open.timer = forgetLater(reading);
        const lines: string[] = [];
        while (lines.length < linesAtOnce) {
          const next = await open.lines.next();
          if (next.done) {
            readings.delete(reading);
            return { lines, done: true };
          }
          lines.push(next.value);
        }
        return { lines, done: false };
      }
      default:
        throw new TypeError("Nobody asks that.");
    }
  };
}

type Present<T> = { [Key in keyof T]: Exclude<T[Key], undefined> };

/** Without the keys that are undefined. */
function present<T extends object>(value: T): Present<T> {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Present<T>;
}
