import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadPolicies, readPolicies } from "../../../src/app/ledger.js";
import { parsePath, valueAt, writePath } from "../../../src/ledger/path.js";
import { holds, parseCondition } from "../../../src/ledger/policies/condition.js";
import { globMatches } from "../../../src/ledger/policies/glob.js";
import { folder } from "../../fixtures/folder.js";

describe("a tool's pattern", () => {
  it.each([
    ["praxis_crear_*", "praxis_crear_record", true],
    ["praxis_crear_*", "praxis_crear_", true],
    ["praxis_crear_*", "praxis_crear", false],
    ["*", "", true],
    ["*_refund", "issue_refund", true],
    ["*_refund", "issue_refund_2", false],
    ["a*b*c", "a-b-b-c", true],
    ["a*b*c", "a-c-b", false],
    ["praxis_?", "praxis_x", true],
    ["praxis_?", "praxis_", false],
    ["issue.refund", "issue_refund", false],
    ["[a-z]*", "issue", false],
  ])("%s and %s: %s", (pattern, name, fits) => {
    expect(globMatches(pattern, name)).toBe(fits);
  });

  it("fits what a regular expression of the same meaning fits", () => {
    const pattern = fc.string({ unit: fc.constantFrom("a", "b", "*", "?") });
    const name = fc.string({ unit: fc.constantFrom("a", "b", "c") });
    fc.assert(
      fc.property(pattern, name, (glob, text) => {
        const expression = glob.replace(/\*+/g, ".*").replaceAll("?", ".");
        expect(globMatches(glob, text)).toBe(new RegExp(`^${expression}$`).test(text));
      }),
    );
  });

  it("is not slow, however it is made", () => {
    expect(globMatches(`${"*a".repeat(100)}b`, "a".repeat(5000))).toBe(false);
  });
});

describe("a path", () => {
  it.each(["order_id", "customer.tax_id", "items[0].id", "[3]", "a[0][1].b", "número"])(
    "%s is read and written",
    (text) => {
      const path = parsePath(text);
      expect(path && writePath(path)).toBe(text);
    },
  );

  it.each([
    "",
    ".",
    "a.",
    ".a",
    "a..b",
    "a[",
    "a[x]",
    "a[-1]",
    "a]b",
    "a[0]b",
    " a",
    "a ",
    "'a'",
    "$",
    "x".repeat(257),
  ])("%j is none", (text) => {
    expect(text === "$" ? valueAt({ a: 1 }, parsePath(text) ?? []) : parsePath(text)).toBeUndefined();
  });

  it("may begin with $, as JSON paths do", () => {
    expect(parsePath("$.items[0].id")).toEqual(["items", 0, "id"]);
    expect(parsePath("$[0]")).toEqual([0]);
  });

  it("finds only what an object has itself", () => {
    const path = (text: string) => parsePath(text) ?? [];
    expect(valueAt({ a: [{ b: null }] }, path("a[0].b"))).toBeNull();
    expect(valueAt({ a: 1 }, path("toString"))).toBeUndefined();
    expect(valueAt({ a: [1] }, path("a.length"))).toBeUndefined();
    expect(valueAt({ a: "x" }, path("a[0]"))).toBeUndefined();
    expect(valueAt({ a: { 0: 1 } }, path("a[0]"))).toBeUndefined();
  });
});

describe("a condition", () => {
  const args = { amount: 1500, text: "1500", currency: "USD", paid: true, gone: null, items: [{ price: 3 }], odd: {} };
  it.each([
    ["amount > 1000", true],
    ["amount > 1500", false],
    ["amount >= 1500", true],
    ["amount < 1500.5", true],
    ["amount<=1499", false],
    ["items[0].price == 3", true],
    ["$.items[0].price==3", true],
    ["currency == USD", true],
    ['currency == "USD"', true],
    ["currency == 'USD'", true],
    ["currency != EUR", true],
    ["currency != USD", false],
    ["currency in [\"USD\", EUR, 'A,B']", true],
    ["currency in [EUR]", false],
    ["currency not in [EUR]", true],
    ["currency not in [USD]", false],
    ["amount in [1, 1500]", true],
    ["paid == true", true],
    ["gone == null", true],
    ["missing == null", false],
    ["currency >= 'USD'", true],
    ["currency < 'ARS'", false],
    // Nothing there: it is neither greater nor less, and it is no value's equal.
    ["missing > 1", false],
    ["missing <= 1", false],
    ["missing == 1", false],
    ["missing != 1", true],
    ["missing in [1]", false],
    ["missing not in [1]", true],
    // A number that came as text is one.
    ["text > 1000", true],
    ["text > 2000", false],
    ["text == 1500", true],
    ["text in [1500]", true],
    ["text != 1500", true],
    // What cannot be compared: the rule is asked.
    ["currency > 1000", true],
    ["odd > 1000", true],
    ["gone > 1", true],
    ["gone <= 1", true],
    ["gone >= 'a'", true],
    ["gone == 1", false],
    ["gone in [1]", false],
    ["items < 1", true],
    ["paid > 0", true],
    ["amount > 'a'", true],
  ])("%s: %s", (text, expected) => {
    const parsed = parseCondition(text);
    expect(parsed.ok && holds(parsed.condition, args)).toBe(expected);
  });

  it("holds for arguments that could not be read", () => {
    const parsed = parseCondition("amount > 1000");
    expect(parsed.ok && holds(parsed.condition, undefined)).toBe(true);
  });

  it.each([
    "",
    "amount",
    "amount 1000",
    "> 1000",
    "amount > ",
    "amount = 5",
    "amount > big",
    "amount > true",
    "amount > [1]",
    "amount == [1]",
    "amount == {}",
    "amount in 5",
    "amount in []",
    "amount in [1,,2]",
    "amount in [1 2]",
    "a..b == 1",
    "amount == 1e400",
    "amount > 1000 and paid == true",
    "amount.constructor('x')() == 1",
  ])("%j is none", (text) => {
    expect(parseCondition(text)).toMatchObject({ ok: false, problem: expect.stringMatching(/^(must|has|can)/) });
  });
});

describe("policies", () => {
  it("are what the file says, with defaults", () => {
    const { rules } = readPolicies({ require_confirmation: [{ tools: ["a"] }] });
    expect(rules).toMatchObject([
      {
        index: 0,
        tools: ["a"],
        when: [],
        accept: { kinds: ["confirmation"], roles: ["user"] },
        maxAgeMs: 600_000,
        mode: "enforce",
        onMissing: "refuse",
      },
    ]);
  });

  it("ask a reviewer where they request an approval", () => {
    const rule = { tools: ["a"], on_missing: "request_approval" };
    expect(readPolicies({ require_confirmation: [rule] }).rules[0]?.accept).toEqual({
      kinds: ["human_review"],
      roles: ["reviewer"],
    });
    const accept = { kinds: ["confirmation"] };
    expect(() => readPolicies({ require_confirmation: [{ ...rule, accept }] })).toThrow(/human_review/);
  });

  it("keep a rule's id when its mode and its message change, and give it another one with anything else", () => {
    const id = (over: object) => readPolicies({ require_confirmation: [{ tools: ["a"], ...over }] }).rules[0]?.id;
    expect(id({ mode: "observe", message: "x" })).toBe(id({}));
    for (const over of [{ tools: ["b"] }, { when: "a > 1" }, { max_age: "1m" }, { bind_fields: ["a"] }]) {
      expect(id(over)).not.toBe(id({}));
    }
  });

  it.each([
    ["a rule without tools", [{ when: "a > 1" }]],
    ["no tools", [{ tools: [] }]],
    ["an unknown key", [{ tools: ["a"], unless: "x" }]],
    ["an unknown mode", [{ tools: ["a"], mode: "warn" }]],
    ["more than an hour", [{ tools: ["a"], max_age: "61m" }]],
    ["an age without a unit", [{ tools: ["a"], max_age: "10" }]],
    ["an age of nothing", [{ tools: ["a"], max_age: "0s" }]],
    ["a condition that is none", [{ tools: ["a"], when: ["a > 1", "b"] }]],
    ["a field that is no path", [{ tools: ["a"], bind_fields: ["a..b"] }]],
    ["an unknown kind", [{ tools: ["a"], accept: { kinds: ["approval"] } }]],
  ])("are refused with %s", (_, require_confirmation) => {
    expect(() => readPolicies({ require_confirmation })).toThrow(expect.objectContaining({ code: "config_invalid" }));
  });

  it("are refused when they are none at all", () => {
    for (const input of [undefined, null, 7, "policies.yaml", []]) expect(() => readPolicies(input)).toThrow(/valid/);
  });

  it("are loaded from a file, with file, line and column of what is wrong", async () => {
    const place = await folder({
      "good.yaml":
        'require_confirmation:\n  - tools: [praxis_crear_*]\n    when: [amount > 1000, "currency in [USD]"]\n',
      "empty.yaml": "# nothing yet\n",
      "bad.yaml":
        "require_confirmation:\n  - tools: [a]\n    when: amount\n  - tools: [b]\n    max_age: 2h\n    modes: observe\n",
    });
    expect((await loadPolicies(`${place}/good.yaml`)).rules[0]?.when).toHaveLength(2);
    expect(await loadPolicies(`${place}/empty.yaml`)).toMatchObject({ rules: [] });
    const error = await loadPolicies(`${place}/bad.yaml`).catch((reason: Error) => reason.message);
    expect(error).toContain(`${place}/bad.yaml:3:11: error: "when" must compare an argument with a value`);
    expect(error).toContain(`${place}/bad.yaml:5:14: error: "max_age" must be from 1ms to 1h`);
    expect(error).toContain(`${place}/bad.yaml:6:5: error: unknown key "modes": did you mean "mode"?`);
  });
});
