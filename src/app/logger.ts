import { type Logger, pino } from "pino";

export type { Logger };

export interface LogOptions {
  readonly level: "debug" | "info" | "warn" | "error";
}

/**
 * JSON lines on stdout: ids and codes. Everything that may hold a secret or a person's words is removed wherever it
 * turns up as a field; nobody logs such fields, this is the second lock.
 */
export function createLogger(options: LogOptions): Logger {
  return pino({
    level: options.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: secrets.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
      remove: true,
    },
    serializers: { err: plainError, error: plainError },
  });
}

const secrets = ["token", "text", "query", "args", "arguments", "authorization", "password", "phone", "sender", "chat"];

/** Codes instead of texts: the message of somebody else's error may quote anything. */
function plainError(error: unknown): unknown {
  if (!(error instanceof Error)) return typeof error === "string" ? error : typeof error;
  const code = "code" in error ? String(error.code) : undefined;
  return { name: error.name, ...(code === undefined ? {} : { code }) };
}
