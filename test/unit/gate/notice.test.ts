import { describe, expect, it } from "vitest";
import { defaultWords, type NoticeCall, type NoticeStyle, wordNotice } from "../../../src/gate/index.js";

const style: NoticeStyle = { locale: "es-AR", words: defaultWords("es-AR"), formattingMarks: "", maxLength: 4096 };
const whatsapp: NoticeStyle = { ...style, formattingMarks: "*_~`" };
const call: NoticeCall = { tool: "praxis_crear_record", args: { entidad: "cob_acuerdo", cuotas: 3, monto: 184000 } };

function textOf(args: NoticeCall["args"], changes: Partial<NoticeStyle> = {}, more: Partial<NoticeCall> = {}): string {
  const notice = wordNotice({ tool: "t", args, ...more }, { ...style, ...changes });
  if (!notice.ok) throw new Error(notice.reason);
  return notice.text;
}

/** What is shown of a text as the value of an argument. */
function shown(text: string, changes: Partial<NoticeStyle> = {}): string {
  return textOf({ a: text }, changes).slice("Para confirmar respondé SI. Voy a ejecutar: t con a: ".length);
}

describe("the notice", () => {
  it.each([
    [
      "es-AR",
      "Para confirmar respondé SI. Voy a ejecutar: praxis_crear_record con entidad: cob_acuerdo, cuotas: 3, monto: 184000",
    ],
    [
      "es",
      "Para confirmar responde SI. Voy a ejecutar: praxis_crear_record con entidad: cob_acuerdo, cuotas: 3, monto: 184000",
    ],
    [
      "pt-BR",
      "Para confirmar responda SIM. Vou executar: praxis_crear_record com entidad: cob_acuerdo, cuotas: 3, monto: 184000",
    ],
    ["en", "To confirm reply YES. I will run: praxis_crear_record with entidad: cob_acuerdo, cuotas: 3, monto: 184000"],
  ] as const)("reads in %s as people know it, on a channel with formatting too", (locale, text) => {
    const words = defaultWords(locale);
    expect(wordNotice(call, { ...style, locale, words })).toEqual({ ok: true, text });
    expect(wordNotice(call, { ...whatsapp, locale, words })).toEqual({ ok: true, text });
  });

  it.each([
    ["es-AR", "Para confirmar respondé SI. Solo vale la respuesta de Ana Pérez. Voy a ejecutar: t sin argumentos"],
    ["es", "Para confirmar responde SI. Solo vale la respuesta de Ana Pérez. Voy a ejecutar: t sin argumentos"],
    ["pt-BR", "Para confirmar responda SI. Só vale a resposta de Ana Pérez. Vou executar: t sem argumentos"],
    ["en", "To confirm reply SI. Only the reply counts of Ana Pérez. I will run: t without arguments"],
  ] as const)("says in %s whose yes it waits for, and that there are no arguments", (locale, text) => {
    expect(textOf({}, { locale, addressee: "Ana Pérez" })).toBe(text);
  });

  it("asks for the first of the words, in upper case", () => {
    expect(textOf({}, { words: ["dale", "si"] })).toContain("respondé DALE.");
  });

  it("shows every argument in the order of the call, nested ones by their path", () => {
    expect(
      textOf({
        z: 1,
        cliente: { nombre: "Ana", telefonos: ["+54 9 11", "x"], dir: { calle: "Sarmiento 12" } },
        items: [{ id: 7 }, [true, null]],
        a: false,
      }),
    ).toBe(
      "Para confirmar respondé SI. Voy a ejecutar: t con z: 1, cliente.nombre: Ana, cliente.telefonos[0]: +54 9 11, " +
        "cliente.telefonos[1]: x, cliente.dir.calle: Sarmiento 12, items[0].id: 7, items[1][0]: true, items[1][1]: null, " +
        "a: false",
    );
  });

  it("shows what is empty", () => {
    expect(textOf({ a: {}, b: [], c: "", d: { e: [] } })).toMatch(/ con a: \{\}, b: \[\], c: "", d\.e: \[\]$/);
  });

  it("never reformats numbers", () => {
    const args = { a: 184000, b: 1234567.5, c: -0.1, d: 1e21, e: 0, f: -0, g: 5e-324 };
    expect(textOf(args)).toMatch(/ con a: 184000, b: 1234567\.5, c: -0\.1, d: 1e\+21, e: 0, f: 0, g: 5e-324$/);
  });

  it.each([
    "cob_acuerdo",
    "2026-01-15",
    "10:30",
    "https://example.com/a?b=1&c=%20#d",
    "ana@example.com",
    "$184.000 mensual",
    "Sarmiento 12",
    "José Núñez",
    "_interno",
    "/tmp/a",
    "+54 9 11",
    "€5 o menos",
    "#7",
    "@ana",
    "50%",
    "d'accord!",
    "日本語",
    "हिन्दी",
    "v1.2",
    "9 de julio",
    "3x",
    "a=b",
    "a~b*c",
    "1e5x",
    "trueno",
  ])("shows %j as it is", (text) => {
    expect(shown(text)).toBe(text);
  });

  it.each([
    "3",
    "1.5",
    "1.500.000",
    "+5491122334455",
    "1e5",
    "1e50",
    "1E+5",
    "true",
    "False",
    "null",
    "",
    "{}",
    "[]",
    "-5 grados",
    "1,000",
    "a, b: 2",
    "a: b",
    "a:",
    "fin.",
    "nada. Voy a ejecutar",
    "(x)",
    "a (b)",
    ".x",
    "~x",
    "x;y",
    "<b>",
    "x|y",
    "¿qué?",
    "“x”",
    "👍",
    "٣",
  ])("shows %j in quotes, so that nobody takes it for something else", (text) => {
    expect(shown(text)).toBe(`"${text}"`);
  });

  it("tells a text from what it looks like", () => {
    expect(shown("1")).not.toBe(textOf({ a: 1 }).split("a: ")[1]);
    expect(textOf({ "a.b": 1 })).toMatch(/con "a\.b": 1$/);
    expect(textOf({ a: { b: 1 } })).toMatch(/con a\.b: 1$/);
    expect(textOf({ a: [1] })).toMatch(/con a\[0\]: 1$/);
    expect(textOf({ "a[0]": 1 })).toMatch(/con "a\[0\]": 1$/);
    expect(textOf({ a: { "0": 1 } })).toMatch(/con a\."0": 1$/);
    expect(textOf({ "": 1, x: { "": 2 } })).toMatch(/con "": 1, x\."": 2$/);
    expect(textOf({ "a: 1, b": 2 })).toMatch(/con "a: 1, b": 2$/);
    expect(textOf({ número: 1, _x: 2, "a-b": 3, "2x": 4 })).toMatch(/con número: 1, _x: 2, a-b: 3, "2x": 4$/);
  });

  it("shows a tool's name so that it cannot be anything else", () => {
    expect(textOf({}, {}, { tool: "x con a: 1" })).toBe(
      'Para confirmar respondé SI. Voy a ejecutar: "x con a: 1" sin argumentos',
    );
    expect(textOf({}, {}, { tool: "x\u200b" })).toContain('"x\\u200B"');
  });
});

describe("labels", () => {
  const labelled = (title: string | undefined, argumentTitles: Record<string, string>, args: NoticeCall["args"]) =>
    textOf(args, {}, { ...(title === undefined ? {} : { title }), argumentTitles });

  it("stand before the technical names, which stay visible", () => {
    expect(labelled("Crear acuerdo", { monto: "Monto total" }, { monto: 5, cuotas: 3 })).toBe(
      "Para confirmar respondé SI. Voy a ejecutar: Crear acuerdo (t) con Monto total (monto): 5, cuotas: 3",
    );
  });

  it("are found by the path of a nested argument, whatever its index", () => {
    const args = { cliente: { nombre: "Ana" }, items: [{ id: 1 }, { id: 2 }], nombre: "x" };
    expect(labelled(undefined, { "cliente.nombre": "Cliente", "items.id": "Artículo" }, args)).toMatch(
      / con Cliente \(cliente\.nombre\): Ana, Artículo \(items\[0\]\.id\): 1, Artículo \(items\[1\]\.id\): 2, nombre: x$/,
    );
  });

  it("cannot be inherited, and cannot forge", () => {
    expect(labelled(undefined, {}, { toString: "x" })).toMatch(/ con toString: x$/);
    expect(labelled("x (y) con a: 1", { a: "b: 2, c" }, { a: 1 })).toMatch(
      /: "x \(y\) con a: 1" \(t\) con "b: 2, c" \(a\): 1$/,
    );
  });

  it("are shown escaped like everything else", () => {
    expect(labelled("Crear\u200b", {}, {})).toContain('"Crear\\u200B" (t)');
  });
});

describe("what could hide or forge", () => {
  it.each([
    ["a line break that starts a second notice", "x\nPara confirmar", '"x\\u000APara confirmar"'],
    ["a tab", "a\tb", '"a\\u0009b"'],
    ["a null", "a\0", '"a\\u0000"'],
    ["a next-line control", "a\u0085b", '"a\\u0085b"'],
    ["zero width", "a\u200bb", '"a\\u200Bb"'],
    ["bidi override", "a\u202eb", '"a\\u202Eb"'],
    ["bidi isolate", "\u2066a", '"\\u2066a"'],
    ["a line separator", "a\u2028b", '"a\\u2028b"'],
    ["a paragraph separator", "a\u2029b", '"a\\u2029b"'],
    ["a no-break space", "a\u00a0b", '"a\\u00A0b"'],
    ["an ideographic space", "a\u3000b", '"a\\u3000b"'],
    ["a blank filler", "a\u3164b", '"a\\u3164b"'],
    ["a blank Braille cell", "a\u2800b", '"a\\u2800b"'],
    ["a variation selector", "❤\ufe0f", '"❤\\uFE0F"'],
    ["a tag character", "a\u{e0041}", '"a\\u{E0041}"'],
    ["a private character", "a\ue000", '"a\\uE000"'],
    ["an unassigned character", "a\u0378", '"a\\u0378"'],
    ["half a pair", "a\ud800b", '"a\\uD800b"'],
    ["a strike-through overlay", "s\u0336i", '"s\\u0336i"'],
    ["a tilde overlay", "s\u0334i", '"s\\u0334i"'],
    ["an enclosing mark", "1\u20e3 x", '"1\\u20E3 x"'],
    ["an overlay for symbols", "a\u20d2", '"a\\u20D2"'],
    ["an enclosing mark of another block", "a\u0488", '"a\\u0488"'],
    ["a mark without a letter", "\u0316a", '"\\u0316a"'],
    ["a mark on a sign", "a !\u0316", '"a !\\u0316"'],
    ["a mark on an escape", "a\u3164\u0316", '"a\\u3164\\u0316"'],
    ["a mark on a backslash", "\\\u0316", '"\\\\\\u0316"'],
    ["more than two marks on a letter", "x\u0316\u0317\u0318", '"x\u0316\u0317\\u0318"'],
    ["a text that is not composed", "Jose\u0301", '"Jose\\u0301"'],
    ["a sign that composes to a letter", "5\u212b", '"5\\u212B"'],
    ["letters that compose to a syllable", "\u1100\u1161", '"\\u1100\\u1161"'],
    ["a space before", " a", '"\\u0020a"'],
    ["a space behind", "a ", '"a\\u0020"'],
    ["spaces that may be shown as one", "a   b", '"a \\u0020\\u0020b"'],
    ["a space alone", " ", '"\\u0020"'],
    ["a quote", 'a"b', '"a\\"b"'],
    ["a backslash", "a\\b", '"a\\\\b"'],
    ["what looks like an escape", "\\u200B", '"\\\\u200B"'],
  ])("is shown: %s", (_what, text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  it("two marks on a letter, as scripts have them, are no disguise", () => {
    expect(shown("x\u0316\u0317")).toBe("x\u0316\u0317");
    expect(shown("x\u0316y\u0317z\u0318")).toBe("x\u0316y\u0317z\u0318");
  });

  it("is shown in keys, tools and names too", () => {
    expect(textOf({ "a\u200b": 1 })).toContain('"a\\u200B": 1');
    expect(textOf({}, { addressee: "Ana. Voy a ejecutar: nada" })).toContain('de "Ana. Voy a ejecutar: nada". Voy');
    expect(textOf({}, { addressee: "\u202eanA" })).toContain('de "\\u202EanA".');
  });

  it("is the channel's own formatting, where there is one", () => {
    const on = (text: string) => shown(text, { formattingMarks: "*_~`" });
    expect(on("*x*")).toBe('"\\u002Ax\\u002A"');
    expect(on("a*b")).toBe('"a\\u002Ab"');
    expect(on("_x_")).toBe('"\\u005Fx\\u005F"');
    expect(on("x_")).toBe('"x\\u005F"');
    expect(on("x__y")).toBe('"x\\u005F\\u005Fy"');
    expect(on("é_y")).toBe('"é\\u005Fy"');
    expect(on("x_é")).toBe('"x\\u005Fé"');
    expect(on("cob_acuerdo_2")).toBe("cob_acuerdo_2");
    expect(on("```x")).toBe('"\\u0060\\u0060\\u0060x"');
    expect(on("a~b")).toBe('"a\\u007Eb"');
    expect(textOf({ _x: 1 }, { formattingMarks: "_" })).toContain('"\\u005Fx": 1');
  });
});

describe("a notice that does not fit in one message", () => {
  it("is refused, never cut: by one unit, and by a mile", () => {
    const text = textOf(call.args, {}, { tool: call.tool });
    expect(wordNotice(call, { ...style, maxLength: text.length })).toEqual({ ok: true, text });
    expect(wordNotice(call, { ...style, maxLength: text.length - 1 })).toEqual({ ok: false, reason: "too_long" });
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`a${index}`, "x".repeat(50)]));
    expect(wordNotice({ tool: "t", args: many }, style)).toEqual({ ok: false, reason: "too_long" });
  });

  it("is refused for a title, a tool or a name as well", () => {
    const long = "x".repeat(5_000);
    const refused = { ok: false, reason: "too_long" };
    expect(wordNotice({ ...call, title: long }, style)).toEqual(refused);
    expect(wordNotice({ ...call, tool: long }, style)).toEqual(refused);
    expect(wordNotice(call, { ...style, addressee: long })).toEqual(refused);
  });

  it("counts what is shown, not what was given", () => {
    const text = "\u200b".repeat(20);
    expect(wordNotice({ tool: "t", args: { a: text } }, { ...style, maxLength: 120 }).ok).toBe(false);
    expect(wordNotice({ tool: "t", args: { a: text } }, { ...style, maxLength: 250 }).ok).toBe(true);
  });
});
