import { boot, createLogger, examine, report } from "../app/index.js";

/** Looks at what the configuration names: is Redis fit, do models and channels answer? Sends nothing to anybody. */
export async function doctor(options: { readonly config: string }): Promise<void> {
  const booted = await boot(options.config, process.env);
  for (const line of report(booted, false).lines) console.error(line);
  if (!booted.ok) {
    process.exitCode = 2;
    return;
  }
  const findings = await examine({
    config: booted.config,
    loaded: booted.loaded,
    logger: createLogger({ level: "error" }),
  });
  for (const { part, ok, says } of findings) console.log(`${ok ? "ok  " : "BAD "} ${part}: ${says}`);
  if (findings.some(({ ok }) => !ok)) process.exitCode = 1;
}
