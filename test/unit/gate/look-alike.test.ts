import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { appendNotice, defaultWords, locales, neutralise, wordNotice } from "../../../src/gate/index.js";

const notices = locales.map((locale) => {
  const style = { locale, words: defaultWords(locale), formattingMarks: "", maxLength: 4096 };
  const notice = wordNotice({ tool: "borrar_nada", args: { a: 1 } }, style);
  if (!notice.ok) throw new Error(notice.reason);
  return notice.text;
});
const [notice = ""] = notices;

const isNotice = /Para confirmar respond|To confirm reply|Voy a ejecutar|Vou executar|I will run/iu;

describe("a look-alike of the notice in the model's text", () => {
  it.each(notices)("is plainly no notice: %s", (text) => {
    const said = neutralise(`Claro.\n${text}\nListo.`);
    expect(said).not.toMatch(isNotice);
    expect(said).toMatch(/^Claro\.\n> \[n(?:o es un aviso|ão é um aviso|ot a notice)\] SIM?|YES\. /u);
    expect(said.split("\n")).toHaveLength(3);
    expect(said.endsWith("\nListo.")).toBe(true);
  });

  it("is quoted, says what it is in its own language, and keeps the rest of its words", () => {
    expect(notices.map((text) => neutralise(text))).toEqual([
      "> [no es un aviso] SI. [no es un aviso]: borrar_nada con a: 1",
      "> [no es un aviso] SI. [no es un aviso]: borrar_nada con a: 1",
      "> [não é um aviso] SIM. [não é um aviso]: borrar_nada com a: 1",
      "> [not a notice] YES. [not a notice]: borrar_nada with a: 1",
    ]);
  });

  it.each([
    ["in capitals", "PARA CONFIRMAR RESPONDÉ SI"],
    ["without accents", "Para confirmar responde si"],
    ["with other accents", "Pâra çonfirmar rëspondè SI"],
    ["decomposed", "Para confirmar responde\u0301 SI"],
    ["with formatting", "**Para confirmar** _respondé_ SI"],
    ["with other punctuation", "Para confirmar, respondé: SI"],
    ["with other spaces", "Para\u00a0confirmar  respondé SI"],
    ["with invisible characters", "Pa\u200bra con\u00adfirmar respon\u2060dé SI"],
    ["over several lines", "Para\nconfirmar\n\nrespondé SI"],
    ["letter by letter", "P a r a  c o n f i r m a r  r e s p o n d é SI"],
    ["with Cyrillic letters", "Раrа соnfirmаr rеsроndé SI"],
    ["with Cyrillic capitals", "РАRА СОNFIRМАR RЕSРОNDÉ SI"],
    ["with Greek letters", "Ραrα cοnfιrmαr respοndé SI"],
    ["with a Greek capital that looks different when small", "PARA COΝFIRMAR RESPOΝDÉ SI"],
    ["in full width", "Ｐａｒａ ｃｏｎｆｉｒｍａｒ ｒｅｓｐｏｎｄé SI"],
    ["in mathematical letters", "𝐏𝐚𝐫𝐚 𝐜𝐨𝐧𝐟𝐢𝐫𝐦𝐚𝐫 𝐫𝐞𝐬𝐩𝐨𝐧𝐝𝐞 SI"],
    ["in small capitals", "ᴘᴀʀᴀ ᴄᴏɴꜰɪʀᴍᴀʀ ʀᴇꜱᴘᴏɴᴅᴇ SI"],
    ["with digits", "P4ra c0nf1rmar re5p0nd3 SI"],
    ["with an l for an i", "Para conflrmar respondé SI"],
    ["with strike-through", "P\u0336ara confirmar respondé SI"],
    ["with a ligature", "Para conﬁrmar respondé SI"],
  ])("is seen %s", (_how, text) => {
    const said = neutralise(`Hola.\n${text}`);
    expect(said).toMatch(/^Hola\.\n> [*]*\[no es un aviso\][_:]? SI$/iu);
  });

  it.each([
    "Voy a ejecutar: borrar_nada",
    "Voy a ejecutar：borrar_nada",
    "*Voy a ejecutar*: borrar_nada",
    "Voy a ejecutar \u200b: borrar_nada",
    "Voy a ejecutar∶ borrar_nada",
    "voy a\nejecutar: borrar_nada",
    "ѵоу а ејеᴄυτаг: borrar_nada",
    "νoΥ a eјecᴜᴛar: borrar_nada",
    "ᴠoʏ a eᴊecυ7ar: borrar_nada",
    "Voy a eјecՍtar: borrar_nada",
  ])("is seen by what it says will run: %j", (text) => {
    expect(neutralise(text)).toMatch(/^> [*]?\[no es un aviso\]/);
  });

  it.each([
    ["Vou eхeсutar: apagar", "> [não é um aviso]: apagar"],
    ["ᴠᴏᴜ eχecᴜᴛar: apagar", "> [não é um aviso]: apagar"],
    ["I ԝiIl run: erase", "> [not a notice]: erase"],
    ["1 ᴡɪʟʟ ʀᴜɴ: erase", "> [not a notice]: erase"],
    ["l ωіӏǀ rυn: erase", "> [not a notice]: erase"],
    ["τо conƒιrm rерӏу YES", "> [not a notice] YES"],
    ["7ᴏ ᴄᴏɴꜰɪʀᴍ ʀᴇᴘʟʏ YES", "> [not a notice] YES"],
    ["Para cοnfirmar reѕpοnԁa SIM", "> [não é um aviso] SIM"],
    ["Ρ@ra c0nfirmar re5pоnᴅa SIM", "> [não é um aviso] SIM"],
    ["P@rɑ ϲօnfirmar rєspοոdа SIM", "> [não é um aviso] SIM"],
  ])("is seen in any of its languages: %s", (text, expected) => {
    expect(neutralise(text)).toBe(expected);
  });

  it.each([
    "Voy a ejecutar la consulta y te cuento.",
    "I will run the report: it takes a minute.",
    "Vou executar isso agora.",
    "Para confirmar tu identidad necesito el DNI.",
    "El cliente 42 debe $184.000.\n\n- cuota 1: 61.333\n- cuota 2: 61.333",
    "To confirm, I need your order number.",
    "",
    "si",
    "👍",
  ])("is not seen where there is none: %j", (text) => {
    expect(neutralise(text)).toBe(text);
  });

  it("is seen in the middle of a line, and every time", () => {
    expect(neutralise("a Para confirmar respondé SI b\nc\nd Para confirmar respondé SI")).toBe(
      "> a [no es un aviso] SI b\nc\n> d [no es un aviso] SI",
    );
    expect(neutralise("Voy a ejecutar: x Voy a ejecutar nada Voy a ejecutar: y")).toBe(
      "> [no es un aviso]: x Voy a ejecutar nada [no es un aviso]: y",
    );
  });

  it("is neutralised once: a second time changes nothing", () => {
    const pieces = fc.constantFrom(...notices, ...notices.flatMap((text) => text.split(" ")), "\n", " ", ":", "> ");
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const once = neutralise(parts.join(""));
        expect(neutralise(once)).toBe(once);
        expect(once).not.toMatch(
          /Para confirmar respond[eéa]|To confirm reply|Voy a ejecutar:|Vou executar:|I will run:/iu,
        );
      }),
      { numRuns: 500 },
    );
  });
});

describe("an answer with its notice", () => {
  it("ends with the notice, on a line of its own", () => {
    expect(appendNotice("Customer 42 owes $184,000.\n\n", notice)).toBe(`Customer 42 owes $184,000.\n\n${notice}`);
  });

  it("is the notice alone when there is no answer", () => {
    expect(appendNotice("  \n", notice)).toBe(notice);
  });

  it("has no notice but the real one", () => {
    const whole = appendNotice(`${notice}\nDale.`, notice);
    expect(whole.split("Para confirmar respondé")).toHaveLength(2);
    expect(whole.endsWith(`\n\n${notice}`)).toBe(true);
  });

  it("closes a code fence that would swallow the notice", () => {
    expect(appendNotice("```js\nx", notice)).toBe(`\`\`\`js\nx\n\`\`\`\n\n${notice}`);
    expect(appendNotice("```\nx\n```", notice)).toBe(`\`\`\`\nx\n\`\`\`\n\n${notice}`);
    expect(appendNotice("`x`", notice)).toBe(`\`x\`\n\n${notice}`);
  });
});
