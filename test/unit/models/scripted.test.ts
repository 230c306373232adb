import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import {
  checkScript,
  createScriptedModel,
  type ModelMessage,
  type ModelNote,
} from "../../../src/agents/models/index.js";
import { parseYaml } from "../../../src/agents/spec/index.js";

function check(text: string) {
  const parsed = parseYaml("s.script.yaml", text);
  if (!parsed.ok) throw new Error("no YAML");
  return checkScript(parsed.yaml);
}

function modelOf(text: string) {
  const script = check(text);
  if (!script.ok) throw new Error(JSON.stringify(script.problems));
  return createScriptedModel(script.value, { name: "scripted" });
}

const head = `apiVersion: dale/v1
kind: Script
spec:
  default_language: es
  languages:
    es: { locale: es-AR, words: [hola, cuanto, debe] }
    en: { locale: en-US, words: [hello, how, much] }
`;

async function ask(text: string, messages: readonly ModelMessage[], notes: readonly ModelNote[] = []) {
  const reply = await modelOf(text).generate({
    system: "",
    messages,
    notes,
    tools: [],
    signal: new AbortController().signal,
  });
  return {
    text: reply.text,
    calls: reply.calls.map(({ tool, argumentsText }) => [tool, JSON.parse(argumentsText) as unknown]),
  };
}

const user = (content: string): ModelMessage => ({ role: "user", content });
const called = (tool: string, args: unknown, result: unknown): readonly ModelMessage[] => [
  { role: "assistant", content: "", calls: [{ id: `c-${tool}`, tool, argumentsText: JSON.stringify(args) }] },
  { role: "tool", callId: `c-${tool}`, tool, content: typeof result === "string" ? result : JSON.stringify(result) },
];

describe("a script", () => {
  it.each([
    ["no rules", "", 3, "is missing"],
    ["an unknown key", "{ name: x, say: Hi., wen: {} }", 9, 'did you mean "when"'],
    ["a broken pattern", "{ name: x, when: { user: '(' }, say: Hi. }", 9, "no regular expression"],
    ["a rule that does nothing", "{ name: x }", 9, "has to say something"],
    ["an undeclared name", "{ name: x, say: 'Hi {who}.' }", 9, 'nothing gives a value to "who"'],
    ["an unknown formatter", "{ name: x, say: '{text | shout}' }", 9, "there is no formatter"],
    ["a missing language", "{ name: x, say: { es: Hola. } }", 9, "no words for the language en"],
    ["two operations", "{ name: x, say: '{1 / 2 / 3}' }", 9, "one division"],
    ["a name to look for", "{ name: x, when: { has: [who] }, say: Hi. }", 9, '"who"'],
  ])("with %s is refused, with its place", (_name, rule, line, message) => {
    const checked = check(rule === "" ? head : `${head}  rules:\n    - ${rule}\n`);
    if (checked.ok) throw new Error("it was taken");
    expect(checked.problems[0]).toMatchObject({ file: "s.script.yaml", line, severity: "error" });
    expect(checked.problems[0]?.message).toContain(message);
  });

  it("with a default language that it does not have is refused", () => {
    const checked = check(`${head.replace("language: es", "language: pt")}  rules: [{ name: x, say: Hi. }]\n`);
    expect(checked).toMatchObject({
      ok: false,
      problems: [{ line: 4, message: "must be one of the languages: es, en" }],
    });
  });

  it("answers by the first rule that fits", async () => {
    const text = `${head}
  rules:
    - { name: one, when: { user: 'hola' }, say: One. }
    - { name: two, say: Two. }
`;
    expect((await ask(text, [user("¡HÓLA!")])).text).toBe("One.");
    expect((await ask(text, [user("chau")])).text).toBe("Two.");
  });

  it("answers in the language of the newest text that tells", async () => {
    const text = `${head}
  rules:
    - { name: x, say: { es: Sí., en: Yes. } }
`;
    expect((await ask(text, [user("42")])).text).toBe("Sí.");
    expect((await ask(text, [user("hello, how much")])).text).toBe("Yes.");
    expect((await ask(text, [user("hello"), user("42")])).text).toBe("Yes.");
    expect((await ask(text, [user("hello"), user("cuánto debe")])).text).toBe("Sí.");
    expect((await ask(text, [user("cuánto debe"), user("how hola")])).text).toBe("Sí.");
  });

  it("captures from the newest text, in digits and words, and types what it calls with", async () => {
    const text = `${head}
  capture:
    who: { patterns: ['cliente (\\d+)'] }
    parts: { patterns: ['(\\w+) cuotas'], type: int }
  rules:
    - name: plan
      when: { has: [who, parts] }
      call: [{ tool: t, args: { b: '{parts}', a: '{who}', c: 'x{parts}', d: { e: ['{parts | text}', 1, null, true] }, f: '{result}' } }]
    - { name: else, say: No. }
`;
    const reply = await ask(text, [user("cliente 42 en tres cuotas")]);
    expect(reply.calls).toEqual([["t", { b: 3, a: "42", c: "x3", d: { e: ["3", 1, null, true] } }]]);
    expect(Object.keys(reply.calls[0]?.[1] ?? {})).toEqual(["b", "a", "c", "d"]);
    expect((await ask(text, [user("cliente 42 en muchas cuotas")])).text).toBe("No.");
  });

  it("matches results by tool and fields, and names of groups, and what was said before", async () => {
    const text = `${head}
  recall:
    debt: { tool: find, where: { result.rows.0.saldo: { above: 0 } } }
  rules:
    - { name: none, when: { result: { tool: find, where: { result.rows.0: { exists: false } } } }, say: 'None of {args.q}.' }
    - { name: some, when: { result: { tool: find } }, say: '{result.rows.0.saldo | money} / {result.rows.0.saldo / 3 | money} / {result.rows.0.saldo * 2 | number} / {1 / 0}' }
    - { name: said, when: { said: 'how many', user: '^(?<n>\\d+)$' }, say: 'So {n}.' }
    - { name: again, when: { user: again, has: [debt] }, say: 'Again {debt.args.q}: {debt.result.rows.0.saldo}' }
    - { name: ask, when: { lacks: [debt] }, say: How many? }
    - { name: else, say: '{text}' }
`;
    const found = called("find", { q: "a" }, { rows: [{ saldo: 184000 }] });
    expect((await ask(text, [user("x"), ...called("find", { q: "a" }, { rows: [] })])).text).toBe("None of a.");
    expect((await ask(text, [user("x"), ...found])).text).toBe("$184.000 / $61.333 / 368.000 / ");
    expect((await ask(text, [user("hello"), ...found])).text).toBe("$184,000 / $61,333 / 368,000 / ");
    expect((await ask(text, [user("x"), { role: "assistant", content: "How many?" }, user("12")])).text).toBe("So 12.");
    expect((await ask(text, [user("x"), ...found, user("again")])).text).toBe("Again a: 184000");
    expect((await ask(text, [user("x")])).text).toBe("How many?");
    expect((await ask(text, [user("x"), ...found, user("What?")])).text).toBe("What?");
    expect((await ask(text, [user("x"), ...called("find", { q: "b" }, "no JSON"), user("again")])).text).toBe(
      "How many?",
    );
  });

  it("matches what the runtime has to say", async () => {
    const text = `${head}
  rules:
    - { name: dropped, when: { note: [discarded, expired] }, say: Dropped. }
    - { name: else, say: Fine. }
`;
    expect((await ask(text, [user("x")], [{ kind: "expired", text: "It lapsed." }])).text).toBe("Dropped.");
    expect((await ask(text, [user("x")], [{ kind: "interrupted", text: "It broke." }])).text).toBe("Fine.");
  });

  it("always says the same to the same conversation", async () => {
    const file = fileURLToPath(new URL("../../../examples/cobranzas/agents/cobranzas.script.yaml", import.meta.url));
    const text = await readFile(file, "utf8");
    const messages = [user("how much does customer 42 owe, and open a payment plan for 3 instalments")];
    expect(await ask(text, messages)).toEqual(await ask(text, messages));
  });

  it("says so when no rule fits", async () => {
    const text = `${head}
  rules:
    - { name: one, when: { user: 'hola' }, say: One. }
`;
    await expect(ask(text, [user("x")])).rejects.toMatchObject({ code: "model_failed" });
  });

  it("is written down in docs/scripted-model.md with an example that works", async () => {
    const docs = await readFile(new URL("../../../docs/scripted-model.md", import.meta.url), "utf8");
    const example = [...docs.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1] ?? "")[1] ?? "";
    const reply = await ask(example, [user("how much does customer 42 owe")]);
    expect(reply.calls).toEqual([["praxis_buscar_records", { entidad: "cob_deuda", cliente: "42" }]]);
  });
});
