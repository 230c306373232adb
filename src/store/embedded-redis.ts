import { mkdir, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DaleError } from "../errors/index.js";
import { errorCode } from "./error-code.js";
import type { FolderLock } from "./folder-lock.js";
import { answerOf, ask, type GuardedServer, startGuardedServer } from "./guarded-server.js";
import type { StoreLogger } from "./logger.js";
import { holdSocketFolder } from "./socket-folder.js";

export interface EmbeddedRedisOptions {
  /** Dale's data folder; it is made if need be. The append-only file lives in its folder `redis`. */
  readonly dataDir: string;
  readonly logger: StoreLogger;
  /** `everysec` loses up to a second when the machine dies (not when a process does); `always` costs a quarter of the speed. */
  readonly fsync?: "everysec" | "always";
  /** Called when the server died and could not be started again. */
  readonly onLost?: (error: DaleError) => void;
  /** The program. Default: `redis-server`, looked for in PATH. */
  readonly program?: string;
}

export interface EmbeddedRedis {
  /** Path of the unix socket; there is no TCP port. */
  readonly socket: string;
  /** Writes what is pending, ends the server, and waits until it has gone. */
  stop(): Promise<void>;
}

/** How long a server may take to load its file, or to write it when it is stopped, ms. */
const patienceMs = 30_000;
const restartsInARow = 5;

/**
 * Starts a redis-server that belongs to this process: it ends with us, however we end, and is started again when it
 * dies by itself. One process at a time may use a data folder.
 * @throws DaleError `store_unfit` when redis-server is not installed, the folder is in use, or the server does not start
 */
export async function startEmbeddedRedis(options: EmbeddedRedisOptions): Promise<EmbeddedRedis> {
  const { logger } = options;
  const dir = await ownFolder(options.dataDir);
  const { folder, lock } = await holdFolderOf(dir, options.dataDir);
  const socket = join(folder, "redis.sock");

  let stopping = false;
  let server: GuardedServer | undefined;

  const run = async (): Promise<void> => {
    const started = startGuardedServer(options.program ?? "redis-server", serverArguments(socket, dir, options));
    server = started;
    await untilServing(socket, started);
    void started.exited.then(() => {
      if (!stopping && server === started) void restart();
    });
  };

  const restart = async (): Promise<void> => {
    for (let tries = 1; !stopping; tries++) {
      logger.warn({ tries }, "the private redis-server died; starting it again");
      await sleep(50 * 2 ** tries);
      if (stopping) return;
      try {
        await run();
        return;
      } catch (error) {
        await end();
        if (tries < restartsInARow) continue;
        const cause =
          error instanceof DaleError ? error : new DaleError("store_unfit", "redis-server failed.", { cause: error });
        logger.error({ tries }, "the private redis-server does not start any more");
        options.onLost?.(cause);
        return;
      }
    }
  };

  /** Ends the present server on purpose, so that its end is not taken for a crash. */
  const end = async (): Promise<void> => {
    const ending = server;
    server = undefined;
    await ending?.stop();
  };

  try {
    await leaveOrphan(socket);
    await run();
    if (!(await lock.stillHeld())) {
      throw new DaleError("store_unfit", `Another Dale took the data folder ${options.dataDir} at the same moment.`);
    }
  } catch (error) {
    stopping = true;
    await end();
    await lock.release();
    throw error;
  }
  logger.info({ fsync: options.fsync ?? "everysec" }, "private redis-server is ready");

  return {
    socket,
    async stop() {
      stopping = true;
      await end();
      await rm(socket, { force: true });
      await lock.release();
    },
  };
}

/** The folder of the server's files, as a real path: two names of one folder are the same. */
async function ownFolder(dataDir: string): Promise<string> {
  const dir = join(dataDir, "redis");
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    return await realpath(dir);
  } catch (cause) {
    throw new DaleError("store_unfit", `The data folder ${dataDir} cannot be made or written (${errorCode(cause)}).`, {
      cause,
    });
  }
}

async function holdFolderOf(dir: string, dataDir: string): Promise<{ folder: string; lock: FolderLock }> {
  const held = await holdSocketFolder(dir).catch((cause: unknown) => {
    throw new DaleError(
      "store_unfit",
      `No unix socket can be made for the data folder ${dataDir} (${errorCode(cause)}).`,
      { cause },
    );
  });
  if (held !== "held") return held;
  throw new DaleError(
    "store_unfit",
    `The data folder ${dataDir} is in use by another Dale: stop it, choose another data_dir, or give both one redis.url.`,
  );
}

function serverArguments(socket: string, dir: string, options: EmbeddedRedisOptions): readonly string[] {
  const settings: Readonly<Record<string, string>> = {
    port: "0",
    unixsocket: socket,
    unixsocketperm: "700",
    dir,
    save: "",
    appendonly: "yes",
    appendfsync: options.fsync ?? "everysec",
    "maxmemory-policy": "noeviction",
    databases: "1",
    daemonize: "no",
  };
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
}

async function untilServing(socket: string, server: GuardedServer): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    if (server.status() !== undefined) throw notStarted(server);
    const state = await answerOf(socket);
    if (state === "serving") return;
    // A server that answers otherwise reads its file, however long that takes.
    if (state === "absent" && performance.now() > deadline) throw notStarted(server);
    await sleep(10);
  }
}

/** What a shell exits with when it did not find the program. */
const notFound = 127;

function notStarted(server: GuardedServer): DaleError {
  if (server.status() === notFound) {
    return new DaleError(
      "store_unfit",
      "redis-server is not installed: install it (apt install redis-server, brew install redis), or set redis.url.",
    );
  }
  const line = server.lastWords().trim().split("\n").at(-1) ?? "";
  return new DaleError("store_unfit", `redis-server did not start: ${line.slice(0, 300)}`);
}

/**
 * We hold the folder, so whoever still answers on its socket lost its owner: it is being ended (its owner was killed a
 * moment ago), or nobody is left to end it. Either way it has to be gone before its file is opened again.
 */
async function leaveOrphan(socket: string): Promise<void> {
  const started = performance.now();
  let asked = false;
  while ((await answerOf(socket)) !== "absent") {
    const waited = performance.now() - started;
    if (waited > patienceMs) throw new DaleError("store_unfit", "A redis-server that lost its owner does not end.");
    if (waited > 2000 && !asked) {
      asked = true;
      await ask(socket, "SHUTDOWN\r\n");
    }
    await sleep(25);
  }
}
