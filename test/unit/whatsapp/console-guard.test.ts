import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hushLibsignal } from "../../../adapters/whatsapp/console-guard.js";

describe("what libsignal prints", () => {
  const before = { ...console };
  let folder: string;
  let printed: unknown[][];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "dale-console-"));
    printed = [];
    for (const method of ["log", "info", "warn", "error", "debug", "trace"] as const) {
      console[method] = (...words: unknown[]) => void printed.push([method, ...words]);
    }
    hushLibsignal();
  });
  afterEach(() => {
    Object.assign(console, before);
    rmSync(folder, { recursive: true });
  });

  /** A file that prints, at a place of our choosing. */
  async function printer(place: string): Promise<(what: unknown) => void> {
    mkdirSync(join(folder, place), { recursive: true });
    const file = join(folder, place, "prints.mjs");
    writeFileSync(
      file,
      'export const print = (what) => { console.info("Closing session:", what); console.error(what); };',
    );
    const { print } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as { print: (what: unknown) => void };
    return print;
  }

  it("reaches nobody", async () => {
    const print = await printer("node_modules/libsignal/src");
    print({ privKey: "secret" });
    expect(printed).toEqual([]);
  });

  it("is the only thing that is dropped: the same words from elsewhere go through", async () => {
    const print = await printer("node_modules/another/src");
    print({ note: "not ours" });
    expect(printed).toEqual([
      ["info", "Closing session:", { note: "not ours" }],
      ["error", { note: "not ours" }],
    ]);
    console.log("and ours", 1);
    expect(printed.at(-1)).toEqual(["log", "and ours", 1]);
  });

  it("is dropped once, however often the guard is set", () => {
    const once = console.info;
    hushLibsignal();
    expect(console.info).toBe(once);
  });
});
