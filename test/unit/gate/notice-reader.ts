import type { NoticeValue } from "../../../src/gate/index.js";

/**
 * Reads a notice back, by its looks alone: if this can be done for every call, then what is shown determines what runs.
 * Knows nothing of how notices are written but their grammar.
 */
export function readNotice(notice: string): {
  readonly word: string;
  readonly tool: string;
  readonly args: NoticeValue;
} {
  const head = /^(?:Para confirmar respond[ée]|Para confirmar responda|To confirm reply) (\S+)\. /u.exec(notice);
  if (!head) throw new Error("not a notice");
  const reader = new NoticeReader(notice.slice(head[0].length));
  if (reader.take(/(?:Solo vale la respuesta de|Só vale a resposta de|Only the reply counts of) /uy)) {
    reader.label();
    reader.expect(". ");
  }
  if (!reader.take(/(?:Voy a ejecutar|Vou executar|I will run): /uy)) throw new Error("it does not say what will run");
  const tool = reader.named(/^ (?:con|com|with|sin|sem|without) /);
  if (reader.take(/ (?:sin argumentos|sem argumentos|without arguments)$/uy))
    return { word: head[1] ?? "", tool: tool.text, args: {} };
  if (!reader.take(/ (?:con|com|with) /uy)) throw new Error("no arguments");
  return { word: head[1] ?? "", tool: tool.text, args: reader.args() };
}

type Step = string | number;

class NoticeReader {
  private at = 0;
  constructor(private readonly text: string) {}

  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const taken = pattern.exec(this.text)?.[0];
    this.at += taken?.length ?? 0;
    return taken;
  }

  expect(text: string): void {
    if (!this.text.startsWith(text, this.at)) throw new Error(`expected ${text} at ${this.text.slice(this.at)}`);
    this.at += text.length;
  }

  private looksAt(text: string): boolean {
    return this.text.startsWith(text, this.at);
  }

  /** A technical name, or a label and the technical name in parentheses; what follows tells which. */
  named(before: RegExp): { readonly text: string; readonly path: readonly Step[] } {
    const start = this.at;
    try {
      this.label();
      this.expect(" (");
      const path = this.path();
      this.expect(")");
      if (before.test(this.text.slice(this.at))) return { text: String(path[0]), path };
    } catch {
      // Then there is no label.
    }
    this.at = start;
    const path = this.path();
    return { text: String(path[0]), path };
  }

  label(): void {
    if (this.looksAt('"')) this.quoted();
    else if (!this.take(/(?:(?! \()[^,()"\\.:]|[.:](?! ))+/uy)) throw new Error("no label");
  }

  private path(): readonly Step[] {
    const steps: Step[] = [this.name()];
    for (;;) {
      const index = this.take(/\[\d+\]/uy);
      if (index !== undefined) steps.push(Number(index.slice(1, -1)));
      else if (this.looksAt(".") && !this.looksAt(". ")) {
        this.expect(".");
        steps.push(this.name());
      } else return steps;
    }
  }

  private name(): string {
    if (this.looksAt('"')) return this.quoted();
    const name = this.take(/[\p{L}\p{N}_-]+/uy);
    if (name === undefined) throw new Error(`no name at ${this.text.slice(this.at)}`);
    return name;
  }

  private quoted(): string {
    this.expect('"');
    let read = "";
    for (;;) {
      const plain = this.take(/[^"\\]+/uy);
      if (plain !== undefined) read += plain;
      else if (this.take(/"/uy)) return read;
      else if (this.take(/\\"/uy)) read += '"';
      else if (this.take(/\\\\/uy)) read += "\\";
      else {
        const spelt = this.take(/\\u(?:\{[0-9A-F]{5,6}\}|[0-9A-F]{4})/uy);
        if (spelt === undefined) throw new Error(`bad escape at ${this.text.slice(this.at)}`);
        const code = Number.parseInt(spelt.replace(/[^0-9A-F]/g, ""), 16);
        read += String.fromCodePoint(code);
      }
    }
  }

  args(): NoticeValue {
    const root: Record<string, NoticeValue> = {};
    do {
      const { path } = this.named(/^: /);
      this.expect(": ");
      put(root, path, this.value());
    } while (this.take(/, /uy));
    if (this.at !== this.text.length) throw new Error(`left over: ${this.text.slice(this.at)}`);
    return root;
  }

  private value(): NoticeValue {
    if (this.looksAt('"')) return this.quoted();
    const shown = this.take(/[^,"]+/uy);
    if (shown === undefined) throw new Error("no value");
    if (shown === "[]") return [];
    if (shown === "{}") return {};
    if (shown === "true" || shown === "false") return shown === "true";
    if (shown === "null") return null;
    return /^-?\d+(?:\.\d+)?(?:e[+-]\d+)?$/.test(shown) ? Number(shown) : shown;
  }
}

type Container = Record<string, NoticeValue> | NoticeValue[];

function put(root: Container, path: readonly Step[], value: NoticeValue): void {
  const [step, ...rest] = path;
  if (step === undefined) throw new Error("no path");
  const members = root as Record<Step, NoticeValue>;
  if (rest.length === 0) {
    if (Object.hasOwn(members, step)) throw new Error(`shown twice: ${path.join(".")}`);
    members[step] = value;
    return;
  }
  if (!Object.hasOwn(members, step)) members[step] = typeof rest[0] === "number" ? [] : {};
  put(members[step] as Container, rest, value);
}
