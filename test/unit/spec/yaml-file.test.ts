import { execFileSync } from "node:child_process";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatProblem, parseYaml, readYaml } from "../../../src/agents/spec/index.js";
import { folder } from "../../fixtures/folder.js";

const problemsOf = (text: string, env?: Record<string, string>) => {
  const parsed = parseYaml("f.yaml", text, env);
  return parsed.ok ? [] : parsed.problems.map((problem) => formatProblem(problem));
};
const read = (text: string, env?: Record<string, string>) => {
  const parsed = parseYaml("f.yaml", text, env);
  if (!parsed.ok) throw new Error(parsed.problems.map((problem) => problem.message).join("; "));
  return parsed.yaml.value;
};

describe("a YAML file", () => {
  it("is read as YAML 1.2: yes is a text, and keys without a value are not there", () => {
    expect(read("a: yes\nb:\nc: null\nd: 0x10\ne: ''\n")).toEqual({ a: "yes", c: null, d: 16, e: "" });
  });

  it("knows where each key and value stands, whatever the line ends and a byte order mark", () => {
    for (const text of ["a: 1\nb:\n  - c: x\n", "a: 1\r\nb:\r\n  - c: x\r\n", "\ufeffa: 1\nb:\n  - c: x\n"]) {
      const parsed = parseYaml("f.yaml", text);
      if (!parsed.ok) throw new Error("not parsed");
      const place = (path: (string | number)[], at: "key" | "value") => {
        const { line, column } = parsed.yaml.problem(path, "", { at });
        return [line, column];
      };
      expect(place(["a"], "key")).toEqual([1, 1]);
      expect(place(["a"], "value")).toEqual([1, 4]);
      expect(place(["b", 0, "c"], "key")).toEqual([3, 5]);
      expect(place(["b", 0, "c"], "value")).toEqual([3, 8]);
    }
  });

  it("gives what is missing the place of its parent", () => {
    const parsed = parseYaml("f.yaml", "a:\n  b: 1\n");
    if (!parsed.ok) throw new Error("not parsed");
    expect(parsed.yaml.problem(["a", "c"], "")).toMatchObject({ line: 1, column: 1 });
    expect(parsed.yaml.has(["a", "b"])).toBe(true);
    expect(parsed.yaml.has(["a", "c"])).toBe(false);
  });

  it("follows aliases, also to where their values stand", () => {
    const text = "base: &base { port: 1 }\nother: *base\nlist: [*base]\n";
    expect(read(text)).toEqual({ base: { port: 1 }, other: { port: 1 }, list: [{ port: 1 }] });
    const parsed = parseYaml("f.yaml", text);
    if (!parsed.ok) throw new Error("not parsed");
    expect(parsed.yaml.problem(["other", "port"], "")).toMatchObject({ line: 1, column: 21 });
  });

  it("is nothing when it is empty or holds comments only", () => {
    expect(read("")).toBeUndefined();
    expect(read("# only\n\n")).toBeUndefined();
  });

  it.each([
    ["a tab as indentation", "a:\n\tb: 1\n", "f.yaml:2:1: error: a tab as indentation: use spaces"],
    [
      "a key that stands twice",
      "a: 1\nb: 2\na: 3\n",
      "f.yaml:3:1: error: this key stands here twice: keep one of the two",
    ],
    [
      "a second document",
      "a: 1\n---\nb: 2\n",
      "f.yaml:2:1: error: a second document: keep one document in a file, and leave out “---”",
    ],
    [
      "a tag",
      "a: 1\nb: !!js/function x\n",
      "f.yaml:2:4: error: tags are not supported: leave out what begins with “!”",
    ],
    [
      "a directive",
      "%YAML 1.1\n---\na: 1\n",
      "f.yaml:1:1: error: YAML directives are not supported: leave out the line that begins with “%”",
    ],
    [
      "a key that reaches for the prototype",
      "a: 1\n__proto__: { b: 1 }\n",
      "f.yaml:2:1: error: this key is not allowed anywhere",
    ],
    ["a key that is no text", "? [a, b]\n: 1\n", "f.yaml:1:3: error: a key has to be plain text: write key: value"],
    ["an alias of nothing", "a: *nothing\n", "f.yaml:1:4: error: an alias of an anchor that does not stand before it"],
    [
      "a number that cannot be held",
      "a: 12345678901234567890\n",
      "f.yaml:1:4: error: a number that cannot be held exactly: write it in quotes, as text",
    ],
    [
      "a missing colon",
      "a: 1\nb\nc: 2\n",
      "f.yaml:2:1: error: a character is missing: a “:” after a key, a closing quote or bracket, or a “,” in a list",
    ],
    ["a NUL", "a: 1\nb: \0\n", "f.yaml:2:4: error: a control character: this is no text file, or a damaged one"],
  ])("refuses %s, at its place", (_name, text, problem) => {
    expect(problemsOf(text)[0]).toBe(problem);
  });

  it("refuses an alias that holds itself, and aliases that come to too much", () => {
    expect(problemsOf("a: &a [*a]\n")[0]).toMatch(/^f\.yaml:1:\d+: error: nested deeper than 64 levels, or an alias/);
    const levels = Array.from(
      { length: 12 },
      (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(", ")}]`,
    );
    expect(problemsOf(`a0: &a0 [x, x, x]\n${levels.join("\n")}\n`)[0]).toMatch(
      /too many values: aliases repeat too much/,
    );
  });

  it.each([
    ["flow lists", "[".repeat(100_000)],
    ["flow maps", "{a: ".repeat(100_000)],
    ["sequence marks", "- ".repeat(100_000)],
    ["key marks", "? ".repeat(100_000)],
    ["value marks", ": ".repeat(100_000)],
    ["keys on one line", "a: ".repeat(100_000)],
    ["indented keys", Array.from({ length: 1000 }, (_, i) => `${" ".repeat(i)}a:`).join("\n")],
  ])("refuses nesting by %s before the parser, whose stack it would overflow, sees it", (_name, text) => {
    expect(problemsOf(text)).toEqual([expect.stringMatching(/nested deeper than 64 levels$/)]);
  });

  it("takes nesting of 50 levels, block and flow", () => {
    const block = Array.from({ length: 50 }, (_, i) => `${"  ".repeat(i)}a:`).join("\n");
    expect(problemsOf(`${block} 1\n`)).toEqual([]);
    expect(problemsOf(`a: ${"[".repeat(50)}${"]".repeat(50)}\n`)).toEqual([]);
  });

  it("refuses more entries than a file can sensibly hold", () => {
    expect(problemsOf("[] ".repeat(300_000))[0]).toMatch(/too many entries for one file: split it/);
    expect(problemsOf(Array.from({ length: 60_000 }, (_, i) => `k${i}: 1`).join("\n"))[0]).toMatch(/too many entries/);
  });

  it("answers any text with a value or with problems that have a place", () => {
    const pieces = fc.constantFrom(
      "a",
      ": ",
      "- ",
      "\n",
      "  ",
      "\t",
      "{",
      "}",
      "[",
      "]",
      ",",
      '"',
      "'",
      "#",
      "&a ",
      "*a",
      "|",
      ">",
      "?",
      "!",
      "%",
      "@",
      "---",
      "$",
      "${X}",
      "\r",
      "é",
      "\ud800",
      "\u0000",
      "1",
      "~",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(pieces, { maxLength: 40 }).map((list) => list.join("")),
          fc.string(),
        ),
        (text) => {
          for (const env of [undefined, { X: "1" }]) {
            const parsed = parseYaml("f.yaml", text, env);
            if (parsed.ok) continue;
            expect(parsed.problems.length).toBeGreaterThan(0);
            for (const { line, column } of parsed.problems) expect(line >= 1 && column >= 1).toBe(true);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe("a file on disk", () => {
  const firstProblem = async (path: string) => {
    const parsed = await readYaml(path);
    return parsed.ok ? undefined : parsed.problems[0]?.message;
  };

  it("is refused when it is binary, not UTF-8, too large, a folder or not there", async () => {
    const bytes = Uint8Array.from({ length: 5000 }, (_, i) => (i * 7919 + 13 * i * i) % 256);
    const root = await folder({
      "noise.yaml": bytes,
      "latin1.yaml": Uint8Array.from([0x61, 0x3a, 0x20, 0xe9]),
      "large.yaml": Buffer.alloc(10_000_000, "a: 1\n"),
      "in/x.yaml": "a: 1",
    });
    expect(await firstProblem(join(root, "noise.yaml"))).toMatch(/not UTF-8|control character/);
    expect(await firstProblem(join(root, "latin1.yaml"))).toBe("not UTF-8: this is no text file, or save it as UTF-8");
    expect(await firstProblem(join(root, "large.yaml"))).toBe(
      "larger than 1 MiB: this is no file of Dale's, or split it",
    );
    expect(await firstProblem(join(root, "in"))).toBe("this is no file: name a YAML file");
    expect(await firstProblem(join(root, "nothing.yaml"))).toBe("there is no such file: check the path");
  });

  it("is refused when it is a pipe, which could be read for ever", async () => {
    const root = await folder({});
    execFileSync("/usr/bin/mkfifo", [join(root, "pipe.yaml")]);
    expect(await firstProblem(join(root, "pipe.yaml"))).toBe("this is no file: name a YAML file");
  });
});

describe("variables in values", () => {
  const env = { REDIS_URL: "redis://h:1", PORT: "8080", EVIL: "x\nevil: true # {", EMPTY: "" };

  it("stand plain, in quotes, in text and within { … }", () => {
    expect(
      read("a: ${REDIS_URL}\nb: { c: ${REDIS_URL}, d: '${PORT}' }\ne: http://h:${PORT}/x\nf: [${PORT}]\n", env),
    ).toEqual({ a: "redis://h:1", b: { c: "redis://h:1", d: "8080" }, e: "http://h:8080/x", f: ["8080"] });
  });

  it("hold text that is never read as YAML", () => {
    expect(read("a: ${EVIL}\nb: { c: ${EVIL} }\n", env)).toEqual({ a: env.EVIL, b: { c: env.EVIL } });
  });

  it("are not replaced a second time", () => {
    expect(read("a: ${A}\n", { A: "${B}", B: "no" })).toEqual({ a: "${B}" });
  });

  it("have a default for what is not set or empty", () => {
    expect(read("a: ${NONE:-http://h:1}\nb: { c: ${EMPTY:-x} }\nd: ${PORT:-1}\ne: ${NONE:-}\n", env)).toEqual({
      a: "http://h:1",
      b: { c: "x" },
      d: "8080",
      e: "",
    });
  });

  it("are written as they are after $$", () => {
    expect(read("a: $${PORT}\nb: { c: x$${PORT}y }\nd: $5\ne: $${\n", env)).toEqual({
      a: "${PORT}",
      b: { c: "x${PORT}y" },
      d: "$5",
      e: "${",
    });
  });

  it("are left alone in a file without variables", () => {
    expect(read("a: '${PORT}'\n")).toEqual({ a: "${PORT}" });
  });

  it("that are not set are problems at their own places", () => {
    expect(problemsOf("a: 1\nb: { c: ${NOPE}, d: 'x ${NOPE} ${ALSO}' }\n", {})).toEqual([
      "f.yaml:2:9: error: the environment has no variable NOPE: set it, or write ${NOPE:-default}",
      "f.yaml:2:24: error: the environment has no variable NOPE: set it, or write ${NOPE:-default}",
      "f.yaml:2:32: error: the environment has no variable ALSO: set it, or write ${ALSO:-default}",
    ]);
  });

  it("that are not well formed, or stand in a key, are problems", () => {
    expect(problemsOf("a: x ${1X}\n", {})[0]).toBe(
      "f.yaml:1:6: error: “${” begins no variable here: write ${NAME}, or $${ for the two characters",
    );
    expect(problemsOf("${PORT}: 1\n", env)[0]).toBe(
      "f.yaml:1:1: error: variables may stand in values only, not in keys",
    );
  });
});
