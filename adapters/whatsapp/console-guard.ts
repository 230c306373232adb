const methods = ["log", "info", "warn", "error", "debug", "trace"] as const;
const guarded = Symbol.for("dale.whatsapp.console-guard");

/**
 * libsignal prints whole sessions, private keys among them, through `console` ("Closing session: …", seen with
 * Baileys 7.0.0-rc14). From now on, what libsignal's own files print is dropped; whatever anybody else prints goes where
 * it went before. Doing it twice changes nothing.
 */
export function hushLibsignal(): void {
  for (const method of methods) {
    const before = console[method];
    if (guarded in before) continue;
    const after = (...words: unknown[]): void => {
      if (!calledByLibsignal()) before.apply(console, words);
    };
    console[method] = Object.assign(after, { [guarded]: true });
  }
}

/** By the file of the caller: words would change with the library, and may be in somebody else's messages. */
function calledByLibsignal(): boolean {
  const calls = new Error("for its stack").stack?.split("\n") ?? [];
  return calls.slice(1, 8).some((call) => /[\\/]node_modules[\\/]libsignal[\\/]/.test(call));
}
