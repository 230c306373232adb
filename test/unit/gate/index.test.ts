import { readdir, readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";

describe("the gate", () => {
  it("loads, and hands out what decides and what words, nothing else", async () => {
    const gate = await import("../../../src/gate/index.js");
    expect(Object.keys(gate).sort()).toEqual([
      "appendNotice",
      "awaitsReceipt",
      "createWords",
      "defaultWords",
      "emptySlot",
      "humanFacts",
      "isConfirmation",
      "isLocale",
      "locales",
      "neutralise",
      "reduce",
      "reports",
      "wordCall",
      "wordNotice",
    ]);
    expect(gate.neutralise("Para confirmar respondé SI")).toBe("> [no es un aviso] SI");
  });

  it("imports nothing but its own files", async () => {
    const folder = new URL("../../../src/gate/", import.meta.url);
    for (const file of await readdir(folder)) {
      const source = await readFile(new URL(file, folder), "utf8");
      const imported = [...source.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) => match[1] ?? "");
      for (const from of imported) expect(from, `${file} imports ${from}`).toMatch(/^\.\/[a-z-]+\.js$/);
    }
  });
});
