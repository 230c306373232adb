import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fingerprint, parseStrict } from "../../../src/canonical/index.js";

const script = fileURLToPath(new URL("../../fixtures/strict_json.py", import.meta.url));
const python = spawnSync("python3", ["--version"], { encoding: "utf8" });
const absent = python.status === 0 ? "" : " (python3 is not installed here: nothing to compare with)";

/** JSON as text, spelt in every way that there is, and now and then broken. */
const space = fc.constantFrom("", "", "", " ", "\n\t", "\r ");
const numbers = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number.toExponential()),
  fc.double({ min: -1e9, max: 1e9, noNaN: true }).map((number) => number.toFixed(6)),
  fc.constantFrom("0", "-0", "1.0", "1e0", "10E+1", "1e400", "-1e400", "1e-400", "0e-400", "1e20", "4.50", "01", "NaN"),
  fc.constantFrom("9007199254740992", "9007199254740993", "-9007199254740992.0", "9007199254740991.5", "Infinity"),
  fc.constantFrom("5e-324", "2e-324", "1.7976931348623157e308", "0.000001", "1e-7", "123456789.123456789", "-Infinity"),
);
const strings = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 6 }).map((text) => JSON.stringify(text)),
  fc.string({ unit: "binary", maxLength: 6 }).map((text) => JSON.stringify(text)),
  fc.constantFrom(
    '"\\u00e9"',
    '"\\/"',
    '"\\ud83d\\ude00"',
    '"\\ud800"',
    '"\ud800"',
    '"\u2028\u007f"',
    '"\\x"',
    '"\n"',
    '"\\u00G0"',
  ),
);
const keys = fc.oneof(
  strings,
  fc.constantFrom('"a"', '"b"', '"\\u0061"', '"1"', '"é"', '"😀"', '"\ufb33"', '"__proto__"', '"constructor"'),
);
const text = fc.letrec<{ value: string }>((tie) => {
  const padded = fc.tuple(space, tie("value"), space).map((parts) => parts.join(""));
  const member = fc
    .tuple(space, keys, space, padded)
    .map(([before, key, after, value]) => `${before}${key}${after}:${value}`);
  return {
    value: fc.oneof(
      { maxDepth: 4 },
      numbers,
      strings,
      fc.constantFrom("true", "false", "null", "tru", ""),
      fc.array(padded, { maxLength: 3 }).map((items) => `[${items.join(",")}]`),
      fc.array(member, { maxLength: 3 }).map((members) => `{${members.join(",")}}`),
    ),
  };
}).value;
const broken = fc
  .tuple(text, fc.nat(), fc.constantFrom("", ",", "}", "]", '"', "x", " ", "\\", "\ufeff", "\u00a0"))
  .map(([whole, at, what]) => {
    const place = at % (whole.length + 1);
    return whole.slice(0, place) + what + whole.slice(place + 1);
  });
const deep = fc.integer({ min: 30, max: 34 }).map((levels) => "[".repeat(levels) + "]".repeat(levels));
const inputs = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 2, arbitrary: broken },
  { weight: 1, arbitrary: deep },
);

describe("an independent implementation in Python", () => {
  it.skipIf(absent !== "")(`refuses the same texts and finds the same fingerprints${absent}`, () => {
    const texts = [...fc.sample(inputs, 4_000), `"${"x".repeat(256 * 1024 - 2)}"`, `"${"é".repeat(128 * 1024)}"`];
    const input = texts.map((one) => JSON.stringify(one)).join("\n");
    const { stdout, stderr, status } = spawnSync("python3", [script], {
      input,
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
      env: { ...process.env, PYTHONUTF8: "1" },
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const answers = stdout.trimEnd().split("\n");
    expect(answers).toHaveLength(texts.length);
    const differences = texts.flatMap((one, index) => {
      const parsed = parseStrict(one);
      const ours = parsed.ok ? fingerprint("tool", parsed.value) : "refused";
      return ours === answers[index] ? [] : [{ text: one, ours: parsed, theirs: answers[index] }];
    });
    expect(differences).toEqual([]);
    const refused = answers.filter((answer) => answer === "refused").length;
    expect(refused).toBeGreaterThan(400);
    expect(answers.length - refused).toBeGreaterThan(400);
  });
});
