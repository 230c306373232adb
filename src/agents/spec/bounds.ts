import { CST, Lexer } from "yaml";

/** Bytes of a file that are read at most. A prompt of a hundred pages is a third of it. */
export const MAX_FILE_BYTES = 1_048_576;
/** Levels of nesting. The parser is recursive: a few thousand levels overflow its stack, which can end the process. */
export const MAX_DEPTH = 64;
/** Tokens of the lexer. Bounds the parser's time (about a second) whatever the text. */
const MAX_TOKENS = 200_000;

export interface TextFault {
  /** In UTF-16 code units from the start of the text. */
  readonly offset: number;
  readonly message: string;
}

/**
 * What makes a text unfit to be given to the YAML parser: control characters, nesting, size, tags, directives. Runs in
 * time linear in the text, without recursion.
 */
export function findFault(text: string): TextFault | undefined {
  const control = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]/.exec(text);
  if (control !== null)
    return { offset: control.index, message: "a control character: this is no text file, or a damaged one" };

  const nesting = new Nesting();
  let offset = 0;
  let tokens = 0;
  for (const token of new Lexer().lex(text)) {
    const type = CST.tokenType(token);
    // The lexer's marks (\x02, \x18, \x1f) are tokens without a place in the text.
    const isMark = type === "doc-mode" || type === "flow-error-end" || token === CST.SCALAR;
    if (type === "tag") return { offset, message: "tags are not supported: leave out what begins with “!”" };
    if (type === "directive-line")
      return { offset, message: "YAML directives are not supported: leave out the line that begins with “%”" };
    if (!isMark && type !== null) nesting.take(type, token);
    if (nesting.depth > MAX_DEPTH) return { offset, message: `nested deeper than ${MAX_DEPTH} levels` };
    if (++tokens > MAX_TOKENS) return { offset, message: "too many entries for one file: split it" };
    if (!isMark) offset += token.length;
  }
  return undefined;
}

/** Follows how deep flow collections and block collections are nested, by columns, from the tokens alone. */
class Nesting {
  private flow = 0;
  private column = 0;
  /** Column of the key that a `:` would belong to. */
  private key: number | undefined;
  private readonly blocks: number[] = [];

  get depth(): number {
    return this.flow + this.blocks.length;
  }

  take(type: CST.TokenType | NonNullable<ReturnType<typeof CST.tokenType>>, token: string): void {
    switch (type) {
      case "flow-map-start":
      case "flow-seq-start":
        this.key ??= this.column;
        this.flow++;
        break;
      case "flow-map-end":
      case "flow-seq-end":
        this.flow = Math.max(0, this.flow - 1);
        break;
      case "seq-item-ind":
      case "explicit-key-ind":
      case "map-value-ind":
        if (this.flow === 0) this.open(type === "map-value-ind" ? (this.key ?? this.column) : this.column);
        break;
      case "doc-start":
      case "doc-end":
        this.blocks.length = 0;
        break;
      case "space":
      case "comment":
      case "newline":
      case "byte-order-mark":
        break;
      default:
        this.key ??= this.column;
    }
    this.advance(token);
  }

  private open(column: number): void {
    while (this.blocks.length > 0 && (this.blocks.at(-1) ?? -1) >= column) this.blocks.pop();
    this.blocks.push(column);
    this.key = undefined;
  }

  private advance(token: string): void {
    const lineEnd = token.lastIndexOf("\n");
    if (lineEnd < 0) {
      this.column += token.length;
      return;
    }
    this.column = token.length - lineEnd - 1;
    if (this.flow === 0) this.key = undefined;
  }
}
