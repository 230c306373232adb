import { describe, expect, it } from "vitest";
import { defaultWords, type NoticeStyle, wordNotice } from "../../../src/gate/index.js";

const style: NoticeStyle = { locale: "es-AR", words: defaultWords("es-AR"), formattingMarks: "", maxLength: 4096 };
const call = { tool: "praxis_crear_record", args: { entidad: "cob_acuerdo", cuotas: 3, monto: 184000 } };

describe("the notice", () => {
  it("reads as people know it", () => {
    expect(wordNotice(call, style)).toEqual({
      ok: true,
      text: "Para confirmar respondé SI. Voy a ejecutar: praxis_crear_record con entidad: cob_acuerdo, cuotas: 3, monto: 184000",
    });
  });
});
