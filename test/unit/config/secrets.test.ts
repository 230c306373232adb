import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { load } from "./files.js";

const SECRET = "s3cr3tVALUE";

/** A configuration in which everything is right; each value may be replaced. */
const lines = [
  ["redis: { url: ", "redis://h", " }"],
  ["data_dir: ", "x", ""],
  ["shards: ", "1", ""],
  ["roles: [", "worker", "]"],
  ["gate: { locale: es, ttl: ", "10m", ", words: [dale], tolerate: [invisible] }"],
  ["channels: { telegram: [{ name: bot, agent: a, token: ", "1:a", ", mode: polling }] }"],
  ["http: { host: ", "127.0.0.1", ", port: 1 }"],
  ["egress: { allow: [", "h", "] }"],
  ["evidence: { url: ", "postgres://h/d", " }"],
  ["log: { level: ", "info", " }"],
] as const;

describe("problems of dale.yaml", () => {
  it("never hold a value, from a variable or written into the file, wherever it stands", async () => {
    for (const [index] of lines.entries())
      for (const value of [
        SECRET,
        `"${SECRET} x"`,
        `[${SECRET}]`,
        `{ ${SECRET}: ${SECRET} }`,
        "${V}",
        "x${V}",
        `redis://u:${SECRET}@`,
      ]) {
        const text = lines
          .map(([before, fine, after], at) => `${before}${at === index ? value : fine}${after}`)
          .join("\n");
        const { found } = await load(`${text}\n`, { V: SECRET });
        expect(found.map((line) => line.replace(/‹.*?›/, "")).join("\n")).not.toContain(SECRET);
      }
  });

  it("never hold a key that is a token which lost its colon", async () => {
    const { found } = await load(
      `channels: { telegram: [{ name: bot, agent: a, token:${SECRET}: x }] }\nhttp: { ${SECRET}: 1 }\n`,
    );
    expect(found.length).toBeGreaterThan(0);
    expect(found.map((line) => line.replace(/‹.*?›/, "")).join("\n")).not.toContain(SECRET);
  });

  it("never hold a word that a variable gave", async () => {
    const { found } = await load("gate: { words: ['${V}'] }\n", { V: `${SECRET} ${SECRET}` });
    expect(found).toHaveLength(1);
    expect(found[0]).not.toContain(SECRET);
  });

  it("never hold what stands in a file that is not YAML", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.constantFrom(SECRET, ": ", "{", "}", "[", "\n", " ", "- ", '"', "&", "*", "!", "%", "@", "#", "|", "?"),
          {
            maxLength: 12,
          },
        ),
        async (pieces) => {
          const { found } = await load(pieces.join(""));
          expect(found.map((line) => line.replace(/‹.*?›/, "")).join("\n")).not.toContain(SECRET);
        },
      ),
      { numRuns: 150 },
    );
  });
});
