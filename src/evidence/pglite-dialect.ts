import { type ChildProcess, fork } from "node:child_process";
import type { Server } from "node:net";
import { fileURLToPath } from "node:url";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from "kysely";
import { DaleError } from "../errors/index.js";
import type { FromPglite, ToPglite } from "./pglite-messages.js";
import { SqlError } from "./sql-error.js";

export interface PgliteOptions {
  /** The database's folder; made at the first use. Nobody else may use it: the caller sees to that. */
  readonly folder: string;
  /** The program, compiled. Default: beside this file. */
  readonly program?: string;
  /** The lock by which the caller holds the folder. The process shares it, so that it outlives a caller that dies. */
  readonly lock?: () => Server | undefined;
  /** The process ends when it was not asked anything for so long, ms, and is started again when it is. Default 60 000. */
  readonly idleMs?: number;
}

export interface PgliteDialect extends Dialect {
  /** Whether the process runs: if not, the next statement takes a second or two. */
  running(): boolean;
  /** Of the process, while it runs. */
  pid(): number | undefined;
}

/** PGlite in a process of its own. It has one connection: who comes second waits. */
export function createPgliteDialect(options: PgliteOptions): PgliteDialect {
  const driver = new PgliteDriver(options);
  return {
    createDriver: () => driver,
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    running: () => driver.running(),
    pid: () => driver.pid(),
  };
}

class PgliteDriver implements Driver {
  readonly #options: PgliteOptions;
  #process: PgliteProcess | undefined;
  #last: Promise<void> = Promise.resolve();
  #leave: () => void = () => {};
  #waiting = 0;
  #idle: NodeJS.Timeout | undefined;
  #destroyed = false;

  constructor(options: PgliteOptions) {
    this.#options = options;
  }

  running(): boolean {
    return this.#process?.alive() ?? false;
  }

  pid(): number | undefined {
    return this.#process?.alive() ? this.#process.pid : undefined;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    clearTimeout(this.#idle);
    this.#waiting += 1;
    const before = this.#last;
    let leave: () => void = () => {};
    this.#last = new Promise((resolve) => {
      leave = resolve;
    });
    await before;
    this.#leave = leave;
    try {
      if (this.#destroyed) throw new SqlError("closed");
      if (!this.#process?.alive()) this.#process = await startProcess(this.#options);
      this.#process.ref();
      return this.#process;
    } catch (error) {
      await this.releaseConnection();
      throw error;
    }
  }

  async releaseConnection(): Promise<void> {
    this.#waiting -= 1;
    if (this.#waiting === 0 && !this.#destroyed) {
      this.#process?.unref();
      this.#idle = setTimeout(() => void this.#rest(), this.#options.idleMs ?? 60_000);
      this.#idle.unref();
    }
    this.#leave();
  }

  /** Ends the process; whoever comes meanwhile waits for that, and starts another. */
  async #rest(): Promise<void> {
    const connection = await this.acquireConnection().catch(() => undefined);
    if (!connection) return;
    await this.#process?.close();
    this.#waiting -= 1;
    this.#leave();
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("begin"));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("commit"));
  }

  /** A process that has gone has rolled back. */
  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof PgliteProcess && !connection.alive()) return;
    await connection.executeQuery(CompiledQuery.raw("rollback"));
  }

  async destroy(): Promise<void> {
    this.#destroyed = true;
    clearTimeout(this.#idle);
    await this.#last;
    await this.#process?.close();
  }
}

interface Waiting {
  resolve(rows: Extract<FromPglite, { kind: "result" }>): void;
  reject(error: Error): void;
}

class PgliteProcess implements DatabaseConnection {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #asked = 0;
  #gone = false;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.on("message", (message: FromPglite) => this.#hear(message));
    child.once("exit", () => this.#end());
    child.once("error", () => this.#end());
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  alive(): boolean {
    return !this.#gone;
  }

  /** Whether our own process must not end before this one was heard. */
  ref(): void {
    this.#child.ref();
    this.#child.channel?.ref();
  }

  unref(): void {
    this.#child.unref();
    this.#child.channel?.unref();
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.#gone) throw new SqlError("gone");
    const id = ++this.#asked;
    const { rows, affected } = await new Promise<Extract<FromPglite, { kind: "result" }>>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      say(this.#child, { kind: "query", id, sql, parameters });
    });
    return {
      rows: rows as readonly unknown[] as Row[],
      ...(affected === undefined ? {} : { numAffectedRows: BigInt(affected) }),
    };
  }

  // biome-ignore lint/correctness/useYield: there is nothing to yield before it refuses
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new TypeError("PGlite's results do not come in pieces.");
  }

  async close(): Promise<void> {
    if (this.#gone) return;
    this.ref();
    const gone = new Promise<void>((resolve) => this.#child.once("exit", () => resolve()));
    say(this.#child, { kind: "close" });
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), closingMs);
    await gone;
    clearTimeout(timer);
  }

  #hear(message: FromPglite): void {
    if (message.kind !== "result" && message.kind !== "failed") return;
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.kind === "result") waiting?.resolve(message);
    else waiting?.reject(new SqlError(message.code));
  }

  #end(): void {
    this.#gone = true;
    for (const { reject } of this.#waiting.values()) reject(new SqlError("gone"));
    this.#waiting.clear();
  }
}

/** What a process may take to write what is pending, ms; it is killed after that, which loses nothing either. */
const closingMs = 10_000;
/** What it may take to open, or to make, a database on a busy machine, ms. */
const openingMs = 120_000;

async function startProcess(options: PgliteOptions): Promise<PgliteProcess> {
  for (let starts = 0; starts < 2; starts++) {
    const child = fork(programOf(options), [options.folder], {
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      execArgv: [],
      // In a group of its own: Ctrl-C in a terminal reaches us first, and we let it finish.
      detached: true,
    });
    const lock = options.lock?.();
    if (lock) child.send({ kind: "hold" } satisfies ToPglite, lock, {}, () => {});
    const process = new PgliteProcess(child);
    const said = await firstWord(child);
    if (said === "ready") return process;
    if (said !== "made") throw new DaleError("archive_unavailable", `PGlite does not open (${said}).`);
  }
  throw new DaleError("archive_unavailable", "PGlite's folder was made, and is not there.");
}

function firstWord(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      settle("timeout");
    }, openingMs);
    timer.unref();
    const settle = (word: string) => {
      clearTimeout(timer);
      child.off("message", hear);
      resolve(word);
    };
    const hear = (message: FromPglite) => {
      if (message.kind === "made") {
        // It is the next one's turn only when this one has gone.
        child.off("exit", ended);
        child.once("exit", () => settle("made"));
      } else if (message.kind === "ready") settle("ready");
      else if (message.kind === "broken") settle(message.code);
    };
    const ended = () => settle("ended");
    child.on("message", hear);
    child.once("exit", ended);
    child.once("error", ended);
  });
}

function programOf(options: PgliteOptions): string {
  return options.program ?? fileURLToPath(new URL("./pglite-process.js", import.meta.url));
}

/** A process that has gone is heard of by its end; nothing is to be done here. */
function say(child: ChildProcess, message: ToPglite): void {
  child.send(message, undefined, {}, () => {});
}
