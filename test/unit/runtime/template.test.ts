import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileTemplate, holds, templateProblem } from "../../../src/agents/runtime/template.js";

const values = {
  output: { answer: "Qualified.", data: { score: 8, tags: ["a", "b"], empty: null } },
  steps: { "first-step": { output: { answer: "one" } } },
  trigger: { query: "¿quién?" },
};

const render = (source: string, strict = true) => compileTemplate(source).text(values, strict);

describe("a template", () => {
  it.each([
    ["plain", "plain"],
    ["{{ output.answer }} for {{ trigger.query }}", "Qualified. for ¿quién?"],
    ['{{ steps["first-step"].output.answer | upper }}', "ONE"],
    ["{{ output.data.score > 7 }}", "true"],
    ["{{ output.data.score > 7 and not output.data.empty }}", "true"],
    ["{% if output.data.score >= 8 %}hot{% elif true %}warm{% else %}cold{% endif %}", "hot"],
    ["{{ 'yes' if output.data.score == '8' else 'no' }}", "yes"],
    [
      "{% for tag in output.data.tags %}{{ loop.index }}:{{ tag }}{% if not loop.last %}, {% endif %}{% endfor %}",
      "1:a, 2:b",
    ],
    ["{% for key, value in steps['first-step'].output %}{{ key }}={{ value }}{% endfor %}", "answer=one"],
    ["{{ output.data.tags | join('-') }} {{ output.data.tags | length }} {{ output.data.tags.length }}", "a-b 2 2"],
    ["{{ output.data.missing | default('none') }}", "none"],
    ["{{ output.data.missing is defined }} {{ output.data.score is defined }}", "false true"],
    ["{{ 'b' in output.data.tags }} {{ 'x' not in output.data.tags }}", "true true"],
    ["{{ (output.data.score + 1) * 2 - 3 }} {{ 7 // 2 }} {{ 7 % 2 }} {{ -output.data.score }}", "15 3 1 -8"],
    ["{{ output.data | dump }}", '{"score":8,"tags":["a","b"],"empty":null}'],
    ["{{ output.data.empty }}|", "|"],
    ["{{ output.data.empty is none }} {{ True }} {{ output.data.empty == None }}", "true true true"],
    ["{{ '<b>' }}", "<b>"],
  ])("%s", (source, text) => {
    expect(render(source)).toBe(text);
  });

  it("keeps the type of a value that stands alone", () => {
    expect(compileTemplate("{{ output.data.score }}").value(values, true)).toBe(8);
    expect(compileTemplate("{{ output.data.tags }}").value(values, true)).toEqual(["a", "b"]);
    expect(compileTemplate("{{ output.data.score }}!").value(values, true)).toBe("8!");
  });

  it("names the value that is not there when it is strict, and leaves it empty when not", () => {
    expect(() => render("{{ output.data.scor > 7 }}")).toThrow("there is no value named scor");
    expect(render("{{ output.data.scor > 7 }}", false)).toBe("false");
    expect(render("a{{ nothing.at.all }}b", false)).toBe("ab");
  });

  it("holds when it renders true, 1 or yes", () => {
    for (const source of ["{{ true }}", " yes ", "1", "{{ output.data.score > 7 }}"]) {
      expect(holds(compileTemplate(source), values, true)).toBe(true);
    }
    for (const source of ["", "no", "{{ output.data.score > 8 }}", "{{ output.data.score }}"]) {
      expect(holds(compileTemplate(source), values, true)).toBe(false);
    }
  });

  it.each([
    "{{ output.constructor }}",
    "{{ output['__proto__'] }}",
    "{{ output.data.tags.map }}",
    "{{ output.answer.constructor.constructor }}",
    "{{ constructor }}",
    "{{ toString }}",
  ])("reaches no prototype: %s", (source) => {
    expect(render(source, false)).toBe("");
    expect(() => render(source, true)).toThrow("there is no value named");
  });

  it.each([
    "{{ range(1000000000) }}",
    "{{ output.answer.constructor('return process')() }}",
    "{% set x = 1 %}",
    "{% macro m() %}{% endmacro %}",
    "{% include 'x' %}",
    "{% import 'x' as y %}",
    "{% extends 'x' %}",
    "{% for a in b %}{% for c in d %}{% for e in f %}{% endfor %}{% endfor %}{% endfor %}",
    "{{ output[trigger.query] }}",
    "{{ r/(a+)+$/ }}",
    "{{ 2 ** 1000 }}",
    "{{ x | center(1000000000) }}",
    "{{ unclosed",
    "{% if %}",
  ])("is refused when it is read: %s", (source) => {
    expect(templateProblem(source)).toEqual(expect.any(String));
  });

  it("is bounded in what it does and becomes", () => {
    const large = { a: Array.from({ length: 1000 }, () => "xxxxxxxxxx") };
    const nested = compileTemplate("{% for x in a %}{% for y in a %}{{ y }}{% endfor %}{% endfor %}");
    expect(() => nested.text(large, true)).toThrow(/too (large|many)/);
    expect(() => compileTemplate("{{ a / 0 }}").text({ a: 1 }, true)).toThrow("divides by zero");
  });

  it("renders any JSON value as data, never as a template", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(compileTemplate("[{{ a.b }}]").text({ a: { b: `{{ ${text} }}` } }, true)).toBe(`[{{ ${text} }}]`);
      }),
    );
  });
});
