import type { JsonValue } from "../../../canonical/index.js";
import { type Checked, checkShape, type Path, type Problem, readYaml, type YamlFile } from "../../spec/index.js";
import { namesIn, parseTemplate, type Template } from "./expression.js";
import type { ArgumentTemplate, Condition, ResultCondition, Rule, Script } from "./script.js";
import { type ScriptFile, scriptFile } from "./script-file.js";
import { plainText } from "./text.js";

/** Reads and checks a script. Faults are problems at file, line and column; it never rejects. */
export async function loadScript(file: string): Promise<Checked<Script>> {
  const read = await readYaml(file);
  return read.ok ? checkScript(read.yaml) : read;
}

/** Checks a script's YAML whole, and compiles it. */
export function checkScript(yaml: YamlFile): Checked<Script> {
  const shape = checkShape(scriptFile, yaml);
  if (!shape.ok) return shape;
  const compiler = new Compiler(yaml, shape.value);
  const script = compiler.script();
  return compiler.problems.length > 0 ? { ok: false, problems: compiler.problems } : { ok: true, value: script };
}

/** Names that every rule can use: the language, the person's text, and the result that the rule matched with its call. */
const builtIn = ["language", "text", "result", "args"];

class Compiler {
  readonly problems: Problem[] = [];
  private readonly languages: readonly string[];
  private readonly declared: readonly string[];

  constructor(
    private readonly yaml: YamlFile,
    private readonly file: ScriptFile,
  ) {
    this.languages = Object.keys(file.spec.languages);
    this.declared = [...builtIn, ...Object.keys(file.spec.capture), ...Object.keys(file.spec.recall)];
  }

  script(): Script {
    const { languages, default_language: defaultLanguage, capture, recall, rules } = this.file.spec;
    if (!Object.hasOwn(languages, defaultLanguage)) {
      this.report(["spec", "default_language"], `must be one of the languages: ${this.languages.join(", ")}`);
    }
    return {
      defaultLanguage,
      languages: Object.fromEntries(
        Object.entries(languages).map(([name, language]) => [
          name,
          {
            locale: this.locale(language.locale, ["spec", "languages", name, "locale"]),
            words: new Set(language.words.map(plainText)),
          },
        ]),
      ),
      captures: Object.entries(capture).map(([name, { patterns, type }]) => ({
        name,
        type,
        patterns: this.patterns(patterns, ["spec", "capture", name, "patterns"]),
      })),
      recalls: Object.entries(recall).map(([name, source]) => ({ name, condition: resultCondition(source) })),
      rules: rules.map((rule, index) => this.rule(rule, ["spec", "rules", index])),
    };
  }

  private rule(rule: ScriptFile["spec"]["rules"][number], at: Path): Rule {
    const { when } = rule;
    const user = this.patterns(when.user, [...at, "when", "user"]);
    const names = [...this.declared, ...user.flatMap(groupNames)];
    for (const key of ["has", "lacks"] as const) {
      for (const [place, path] of (when[key] ?? []).entries()) {
        this.known(path, names, [...at, "when", key, place]);
      }
    }
    for (const path of Object.keys(when.where ?? {})) this.known(path, names, [...at, "when", "where", path]);
    if (rule.say === undefined && rule.call === undefined) {
      this.report(at, "a rule has to say something, call something, or both: write for example say: Hello.");
    }
    return {
      name: rule.name,
      user,
      said: this.patterns(when.said, [...at, "when", "said"]),
      notes: when.note === undefined ? [] : [when.note].flat(),
      ...(when.result === undefined ? {} : { result: resultCondition(when.result) }),
      has: when.has ?? [],
      lacks: when.lacks ?? [],
      where: conditions(when.where ?? {}),
      say: this.say(rule.say, names, [...at, "say"]),
      calls: (rule.call ?? []).map((call, place) => ({
        tool: call.tool,
        args: Object.fromEntries(
          Object.entries(call.args).map(([key, value]) => [
            key,
            this.argument(value, names, [...at, "call", place, "args", key]),
          ]),
        ),
      })),
    };
  }

  private say(say: string | Readonly<Record<string, string>> | undefined, names: readonly string[], at: Path) {
    const templates: Record<string, Template> = {};
    for (const language of this.languages) {
      const source = typeof say === "object" ? say[language] : say;
      if (source !== undefined) {
        templates[language] = this.template(source, names, typeof say === "object" ? [...at, language] : at);
      } else if (say !== undefined) {
        this.report(at, `there are no words for the language ${language}: write for example ${language}: Hello.`);
      }
    }
    return templates;
  }

  private argument(value: JsonValue, names: readonly string[], at: Path): ArgumentTemplate {
    if (typeof value === "string") return { template: this.template(value, names, at) };
    if (typeof value !== "object" || value === null) return { value };
    if (isList(value)) return { items: value.map((item, index) => this.argument(item, names, [...at, index])) };
    const fields = Object.entries(value).map(([key, item]) => [key, this.argument(item, names, [...at, key])] as const);
    return { fields: Object.fromEntries(fields) };
  }

  private template(source: string, names: readonly string[], at: Path): Template {
    try {
      const template = parseTemplate(source);
      for (const name of namesIn(template)) this.known(name, names, at);
      return template;
    } catch (error) {
      this.report(at, error instanceof Error ? error.message : "this template cannot be read");
      return [];
    }
  }

  private patterns(sources: string | readonly string[] | undefined, at: Path): RegExp[] {
    if (sources === undefined) return [];
    return typeof sources === "string"
      ? [this.pattern(sources, at)]
      : sources.map((source, index) => this.pattern(source, [...at, index]));
  }

  private pattern(source: string, at: Path): RegExp {
    try {
      return new RegExp(source, "u");
    } catch {
      this.report(at, "this is no regular expression of JavaScript (flag u): escape what is meant literally");
      return /(?!)/;
    }
  }

  private locale(locale: string, at: Path): string {
    try {
      return new Intl.NumberFormat(locale).resolvedOptions().locale;
    } catch {
      this.report(at, "this is no locale: write for example en-US");
      return "en-US";
    }
  }

  private known(path: string, names: readonly string[], at: Path): void {
    const [first = ""] = path.split(".");
    if (!names.includes(first)) {
      this.report(
        at,
        `nothing gives a value to "${first}": use one of ${names.join(", ")}, or declare it under capture`,
      );
    }
  }

  private report(at: Path, message: string): void {
    this.problems.push(this.yaml.problem(at, message));
  }
}

function resultCondition(source: ScriptFile["spec"]["recall"][string]): ResultCondition {
  return { tool: source.tool, where: conditions(source.where) };
}

function conditions(where: ScriptFile["spec"]["recall"][string]["where"]): readonly Condition[] {
  return Object.entries(where).map(([path, is]) => ({ path: path.split("."), is }));
}

function groupNames(expression: RegExp): readonly string[] {
  return [...expression.source.matchAll(/\(\?<([a-z_]\w*)>/gi)].map((match) => match[1] ?? "");
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
