import { boot, createDale, createLogger, type Role, report } from "../app/index.js";
import { DaleError } from "../errors/index.js";

interface StartOptions {
  readonly config: string;
  readonly roles?: string;
  readonly strict?: boolean;
}

const allRoles: readonly Role[] = ["ingress", "worker", "sender", "http"];

/** How long draining may take in all, ms: turns and requests have a minute, closing comes on top. */
const drainMs = 75_000;

/** Runs until SIGTERM or SIGINT, drains and exits 0. A bad configuration exits 2, anything fatal 1. */
export async function start(options: StartOptions): Promise<void> {
  const booted = await boot(options.config, process.env);
  const verdict = report(booted, options.strict ?? false);
  for (const line of verdict.lines) console.error(line);
  if (!booted.ok || verdict.refused) {
    process.exitCode = 2;
    return;
  }
  const roles = options.roles === undefined ? booted.config.roles : rolesOf(options.roles);
  if (!roles) {
    console.error(`--roles: write some of ${allRoles.join(",")}, separated by commas.`);
    process.exitCode = 2;
    return;
  }
  const logger = createLogger({ level: booted.config.log.level });
  const fatal = (error: DaleError) => {
    logger.fatal({ code: error.code }, error.message);
    process.exit(1);
  };
  const dale = createDale({ config: booted.config, loaded: booted.loaded, roles, logger, onFatal: fatal });

  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) {
      logger.warn({ signal }, "ended without draining to the end");
      process.exit(1);
    }
    stopping = true;
    logger.info({ signal }, "draining");
    const late = setTimeout(() => {
      logger.error("not drained in time; what was left in mid-run will run again");
      process.exit(1);
    }, drainMs);
    await dale.stop();
    clearTimeout(late);
    process.exit(0);
  };
  // A parent that started us with a channel and is gone: nobody else would stop us.
  if (process.channel) process.once("disconnect", () => void stop("disconnect"));
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void stop(signal));
  process.on("unhandledRejection", (error) => logger.error({ error }, "unhandled rejection"));

  try {
    const { lines } = await dale.start();
    for (const line of lines) console.error(line);
  } catch (error) {
    await dale.stop().catch(() => undefined);
    if (error instanceof DaleError) return fatal(error);
    throw error;
  }
}

function rolesOf(text: string): readonly Role[] | undefined {
  const names = text.split(",").map((name) => name.trim());
  const roles = allRoles.filter((role) => names.includes(role));
  return roles.length === names.length ? roles : undefined;
}
