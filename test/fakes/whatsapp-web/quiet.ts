/** The contacts' side of Signal prints its sessions to the console: a test's output is not the place for them. */
export function hushLibsignal(): void {
  for (const method of ["info", "warn", "error"] as const) {
    const before = console[method];
    if (before.name === "unlessLibsignal") continue;
    console[method] = function unlessLibsignal(...words: unknown[]) {
      if (!/[\\/]libsignal[\\/]/.test(new Error("for its stack").stack ?? "")) before.apply(console, words);
    };
  }
}
