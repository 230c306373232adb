import { boot, createDale, createLogger, type Role, report } from "../app/index.js";
import { DaleError } from "../errors/index.js";

interface StartOptions {
  readonly config: string;
  readonly roles?: string;
  readonly strict?: boolean;
}

const allRoles: readonly Role[] = ["ingress", "worker", "sender", "http"];

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
    if (stopping) return;
    stopping = true;
    logger.info({ signal }, "draining");
    await dale.stop();
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void stop(signal));
  process.on("unhandledRejection", (error) => logger.error({ error }, "unhandled rejection"));

  try {
    const { lines } = await dale.start();
    for (const line of lines) console.log(line);
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
