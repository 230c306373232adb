/**
 * What must not be shown as it is: control, format, private and unassigned characters, lone surrogates, line and
 * paragraph separators, every space but U+0020, what renderers ignore by default (variation selectors, fillers), the
 * blank Braille cell, and marks that are laid over or around a letter.
 */
const hiding = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Me}\p{Default_Ignorable_Code_Point}\u2800]/u;
const laidOver = /[\u0334-\u0338]|[\u20d0-\u20f0]/u;
const foreignSpace = /[^\P{Zs} ]/u;
const mark = /\p{M}/u;
const ascii = /[\0-\x7f]/;
const letter = /\p{L}/u;
const wordCharacter = /[A-Za-z0-9]/;

/** More combining marks on one letter are shown as escapes: no script needs them, but a scrawl can hide under them. */
const marksOnOneLetter = 2;

/**
 * Shows a text so that nothing in it can hide, move or forge what stands around it, and so that two different texts
 * never look the same: what cannot be seen as what it is appears as `\u200B` (or `\u{E0041}`), a backslash as `\\`.
 *
 * @param marks characters that the channel turns into formatting. An underscore inside a word is left as it is: no
 *   channel takes it for formatting there, and tools are named with it
 */
export function visible(text: string, marks: string): string {
  // Of a text that composes to another one, everything that may differ from that other one is shown as an escape.
  const composed = text.normalize("NFC") === text;
  const characters = [...text];
  let base = "";
  let combined = 0;
  return characters
    .map((character, index) => {
      const before = characters[index - 1] ?? "";
      const after = characters[index + 1] ?? "";
      if (character === "\\") {
        base = "";
        return "\\\\";
      }
      const combines = mark.test(character);
      combined = combines ? combined + 1 : 0;
      const shown =
        (composed || ascii.test(character)) &&
        !hiding.test(character) &&
        !laidOver.test(character) &&
        !foreignSpace.test(character) &&
        !(combines && (combined > marksOnOneLetter || !letter.test(base))) &&
        !(character === " " && (before === "" || before === " " || after === "")) &&
        !(marks.includes(character) && !insideWord(before, character, after));
      if (!combines) base = shown ? character : "";
      return shown ? character : escaped(character);
    })
    .join("");
}

function insideWord(before: string, character: string, after: string): boolean {
  return character === "_" && wordCharacter.test(before) && wordCharacter.test(after);
}

function escaped(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return code.length <= 4 ? `\\u${code.padStart(4, "0")}` : `\\u{${code}}`;
}
