import type { YAMLParseError } from "yaml";

/** The parser's own messages may quote the text, which may be a secret: these never do. */
const sentences: Readonly<Record<string, string>> = {
  BAD_ALIAS: "an alias that is not well formed: write *name",
  BAD_DIRECTIVE: "YAML directives are not supported: leave out the line that begins with “%”",
  BAD_DQ_ESCAPE: "an escape that \"…\" does not know: write \\\\ for a backslash, or use '…'",
  BAD_INDENT:
    "the indentation does not fit what stands above: keys of one level start in the same column, and [ … ] and { … } have to be closed",
  BAD_PROP_ORDER: "an anchor in the wrong place: write key: &name value",
  BAD_SCALAR_START: "a value cannot begin with @ or `: put it in quotes",
  BLOCK_AS_IMPLICIT_KEY:
    "a second “key:” on one line, or a line that is indented too far: give it a line of its own, in the column of its neighbours",
  BLOCK_IN_FLOW: "a block of lines inside [ … ] or { … }: close the bracket, or write everything as a block",
  COMMENT_SPACE: "a comment needs a space before “#”",
  IMPOSSIBLE: "not valid YAML",
  KEY_OVER_1024_CHARS: "a key of more than 1024 characters: is a “:” missing above?",
  MISSING_CHAR: "a character is missing: a “:” after a key, a closing quote or bracket, or a “,” in a list",
  MULTILINE_IMPLICIT_KEY: "a key has to be on one line: is a “:” or a quote missing, or the line indented too far?",
  MULTIPLE_ANCHORS: "two anchors on one value: keep one",
  MULTIPLE_DOCS: "a second document: keep one document in a file, and leave out “---”",
  MULTIPLE_TAGS: "tags are not supported: leave out what begins with “!”",
  NON_STRING_KEY: "a key has to be plain text: write key: value",
  RESOURCE_EXHAUSTION: "nested too deeply",
  TAB_AS_INDENT: "a tab as indentation: use spaces",
  TAG_RESOLVE_FAILED: "tags are not supported: leave out what begins with “!”",
  UNEXPECTED_TOKEN: "this does not belong here: a bracket or a comma too many, or a value that needs quotes",
};

export function describeYamlError(error: YAMLParseError): string {
  return sentences[error.code] ?? "not valid YAML";
}
