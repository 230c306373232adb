import { createHash } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type InstallationKeys, verifyExport } from "../../../src/evidence/index.js";
import { evidenceEntry, testKeys } from "../../fixtures/evidence.js";
import { openTestArchive, type TestArchive } from "../../fixtures/evidence-archive.js";

type Line = Record<string, unknown>;

/** The installation's signature under a changed file: what is found then is found by chains and blocks alone. */
function sealed(lines: readonly string[], keys: InstallationKeys): readonly string[] {
  const digest = createHash("sha256")
    .update(lines.map((line) => `${line}\n`).join(""))
    .digest();
  const signature = Buffer.from(keys.sign(digest)).toString("base64");
  return [...lines, JSON.stringify({ kind: "end", lines: lines.length, digest: digest.toString("hex"), signature })];
}

describe("verifying an export", () => {
  let test: TestArchive;
  /** Without the line that seals the file. */
  let honest: readonly string[];
  const sessions = ["telegram:bot:1:1", "telegram:bot:2:2", "whatsapp:shop:549:549"];
  beforeAll(async () => {
    test = await openTestArchive();
    for (const part of [0, 1, 2]) {
      await test.archive.append(
        sessions.map((session, n) => ({
          session,
          entries: [0, 1, 2].map((step) =>
            evidenceEntry(`${n}-${part}-${step}`, {
              session,
              proposal: `p-${n}-${part % 2}`,
              type: ["proposed", "granted", "executed"][step] ?? "",
              at: 1_000 * part + step,
            }),
          ),
        })),
      );
    }
    honest = (await exported({})).slice(0, -1);
  }, 120_000);
  afterAll(() => test?.close());

  const exported = async (scope: Parameters<TestArchive["archive"]["export"]>[0]): Promise<readonly string[]> => {
    const lines: string[] = [];
    for await (const line of test.archive.export(scope)) lines.push(line.trimEnd());
    return lines;
  };
  const verify = (lines: readonly string[]) => verifyExport(lines, test.keys.publicKey);
  const codes = async (lines: readonly string[]) => (await verify(lines)).findings.map(({ code }) => code);
  const parsed = () => honest.map((line) => JSON.parse(line) as Line);
  const kinds = (kind: string) => honest.flatMap((line, at) => (JSON.parse(line).kind === kind ? [at] : []));
  const write = (lines: readonly Line[]) =>
    sealed(
      lines.map((line) => JSON.stringify(line)),
      test.keys,
    );

  it("finds nothing in what the installation wrote", async () => {
    expect(await verify(await exported({}))).toMatchObject({
      ok: true,
      findings: [],
      scope: "all",
      entries: 27,
      chains: 3,
      blocks: 3,
      erased: 0,
      head: { number: 3 },
    });
    expect(await verify(await exported({ session: sessions[1] ?? "" }))).toMatchObject({
      ok: true,
      scope: "session",
      entries: 9,
      chains: 1,
    });
    expect(await verify([...(await exported({})), ""])).toMatchObject({ ok: true });
  });

  it("verifies an extract of one proposal, in which nothing else can be read", async () => {
    const lines = (await exported({ proposal: "p-1-0" })).map((line) => JSON.parse(line) as Line);
    expect(await verify(lines.map((line) => JSON.stringify(line)))).toMatchObject({ ok: true, scope: "proposal" });
    const entries = lines.filter(({ kind }) => kind === "entry");
    expect(entries.map(({ proposal, told }) => [proposal, told !== undefined])).toEqual([
      ...[1, 2, 3].map(() => ["p-1-0", true]),
      ...[1, 2, 3].map(() => ["p-1-1", false]),
      ...[1, 2, 3].map(() => ["p-1-0", true]),
    ]);
    for (const entry of entries.filter(({ proposal }) => proposal !== "p-1-0")) {
      expect(Object.keys(entry)).not.toContain("sealed");
      expect(Object.keys(entry)).not.toContain("key");
    }
  });

  it("needs the installation's public key, and no other will do", async () => {
    const lines = await exported({});
    const other = await verifyExport(lines, testKeys().publicKey);
    expect(other.findings.map(({ code }) => code)).toEqual(
      expect.arrayContaining(["another_key", "block_not_signed", "file_altered"]),
    );
    await expect(verifyExport(lines, "no key")).rejects.toThrow(TypeError);
  });

  it("finds any byte that was changed, and any line that was dropped, doubled or moved", async () => {
    const file = (await exported({})).map((line) => `${line}\n`).join("");
    const bytes = Buffer.from(file, "utf8");
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 2), fc.integer({ min: 1, max: 255 }), async (at, by) => {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ by;
        expect((await verify(changed.toString("latin1").split("\n"))).ok).toBe(false);
      }),
      { numRuns: 150 },
    );
    const lines = file.trimEnd().split("\n");
    await fc.assert(
      fc.asyncProperty(fc.nat(lines.length - 1), fc.nat(lines.length - 1), fc.nat(2), async (one, other, how) => {
        const changed = [...lines];
        if (how === 0) changed.splice(one, 1);
        else if (how === 1) changed.splice(other, 0, changed[one] ?? "");
        else {
          fc.pre(one !== other);
          changed.splice(other, 0, ...changed.splice(one, 1));
        }
        fc.pre(changed.join("\n") !== lines.join("\n"));
        expect((await verify(changed)).ok).toBe(false);
      }),
      { numRuns: 150 },
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 2), async (length) => {
        expect((await verify(bytes.subarray(0, length).toString("latin1").split("\n"))).ok).toBe(false);
      }),
      { numRuns: 100 },
    );
  });

  it("finds any field of a block or an entry that was changed before the installation exported it", async () => {
    const places = parsed().flatMap((line, at) =>
      line.kind === "evidence" ? [] : pathsOf(line).map((path) => ({ at, path })),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places), async ({ at, path }) => {
        const lines = parsed();
        fc.pre(change(lines[at] ?? {}, path));
        expect((await verify(write(lines))).ok).toBe(false);
      }),
      { numRuns: 400 },
    );
  });

  it("finds entries, chains and blocks that were dropped or moved before the installation exported them", async () => {
    const lines = parsed();
    const without = (...dropped: readonly number[]) => write(lines.filter((_, at) => !dropped.includes(at)));
    for (const at of kinds("entry")) expect(await codes(without(at))).toContain("entry_missing");
    for (const at of kinds("block")) expect(await codes(without(at))).toContain("block_missing");
    const [first = 0, second = 0] = kinds("chain");
    const chain = Array.from({ length: second - first }, (_, n) => first + n);
    expect(await codes(without(...chain))).toEqual(["chain_missing"]);

    const swapped = parsed();
    const [one = 0, other = 0] = kinds("entry");
    [swapped[one], swapped[other]] = [swapped[other] ?? {}, swapped[one] ?? {}];
    expect(await codes(write(swapped))).toContain("entry_out_of_order");
  });

  it("finds a cut-off tail, although everything that is left fits together", async () => {
    const lines = parsed();
    const [, second = 0] = kinds("chain");
    const chain = lines[kinds("chain")[0] ?? 0] ?? {};
    chain.to = 8;
    expect(await codes(write(lines.filter((_, at) => at !== second - 1)))).toEqual([
      "tail_missing",
      "entry_not_signed",
    ]);
    chain.to = 6;
    expect(await codes(write(lines.filter((_, at) => at < second - 3 || at >= second)))).toEqual(["tail_missing"]);
  });

  it("finds a beginning that was removed by nobody's rule", async () => {
    const lines = parsed();
    const [first = 0] = kinds("chain");
    (lines[first] ?? {}).from = 2;
    expect(await codes(write(lines.filter((_, at) => at !== first + 1)))).toEqual(["beginning_missing"]);
  });

  it("finds what was changed in the tables", async () => {
    const changes: readonly (readonly [string, string, string])[] = [
      ["evidence_entries", "at = at + 1", "at = at - 1"],
      ["evidence_entries", "type = 'granted '", "type = 'granted'"],
      ["evidence_entries", "tool = 'other'", "tool = 'praxis_crear_record'"],
      ["evidence_entries", "seq = seq + 100", "seq = seq - 100"],
      ["evidence_entries", "sealed = sealed || '\\x00'", "sealed = substring(sealed from 1 for length(sealed) - 1)"],
      ["evidence_blocks", "at = at + 1", "at = at - 1"],
      [
        "evidence_blocks",
        "statements = replace(statements, 'head', 'erased')",
        "statements = replace(statements, 'erased', 'head')",
      ],
    ];
    for (const [table, there, back] of changes) {
      const which = table === "evidence_blocks" ? "number = 2" : "id = '1-1-1'";
      await test.sql(`update ${table} set ${there} where ${which}`);
      expect((await verify(await exported({}))).ok, there).toBe(false);
      await test.sql(`update ${table} set ${back} where ${which}`);
      expect((await verify(await exported({}))).ok, back).toBe(true);
    }
  });

  it("cannot find a state that was rolled back whole, unless a later signed head was kept elsewhere", async () => {
    const head = await test.archive.head();
    const known = { number: head?.number ?? 0, hash: head?.hash ?? "" };
    expect(await verifyExport(await exported({}), test.keys.publicKey, known)).toMatchObject({ ok: true });
    const lines = parsed();
    const earlier = lines.filter((line) => {
      if (line.kind === "block") return Number(line.number) < 3;
      if (line.kind === "entry") return Number(line.seq) <= 6;
      if (line.kind === "chain") line.to = 6;
      if (line.kind === "evidence") line.head = { number: 2, hash: lines[2]?.hash };
      return true;
    });
    expect(await codes(write(earlier))).toEqual([]);
    const against = await verifyExport(write(earlier), test.keys.publicKey, known);
    expect(against.findings).toEqual([{ code: "older_than_known_head", block: 3 }]);
    const other = await verifyExport(await exported({}), test.keys.publicKey, { ...known, hash: "0".repeat(64) });
    expect(other.findings).toEqual([{ code: "known_head_differs", block: 3 }]);
  });

  it("is told of what is no export", async () => {
    expect(await codes([])).toEqual(["not_an_export"]);
    expect(await codes(["{}", "[]"])).toContain("not_an_export");
    expect(await codes(honest)).toEqual(["file_cut_off"]);
  });
});

/** Paths of all values in a line that are neither objects nor lists. */
function pathsOf(value: unknown, path: readonly (string | number)[] = []): readonly (readonly (string | number)[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, [...path, key]));
}

/** Another value of the same kind at the path. @returns false where there is none */
function change(line: Line, path: readonly (string | number)[]): boolean {
  const last = path.at(-1) ?? "";
  const parent: unknown = path.slice(0, -1).reduce<unknown>((value, key) => Reflect.get(Object(value), key), line);
  const value: unknown = Reflect.get(Object(parent), last);
  const other = otherThan(value, String(last));
  Reflect.set(Object(parent), last, other);
  return other !== value;
}

function otherThan(value: unknown, name: string): unknown {
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (typeof value !== "string") return value;
  if (name === "kind") return value === "head" ? "erased" : value;
  if (name === "at") return new Date(Date.parse(value) + 1).toISOString();
  if (/^[0-9a-f]{64}$/.test(value)) return (value.startsWith("0") ? "1" : "0") + value.slice(1);
  if (name === "sealed" || name === "key" || name === "signature") {
    const bytes = Buffer.from(value, "base64");
    bytes[0] = (bytes[0] ?? 0) ^ 1;
    return bytes.toString("base64");
  }
  return `${value}x`;
}
