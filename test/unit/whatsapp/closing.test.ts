import { describe, expect, it } from "vitest";
import { afterClosing, type Closing } from "../../../adapters/whatsapp/closing.js";

const ended = (code: number, more: Partial<Closing> = {}) =>
  afterClosing({ code, linked: true, shown: false, refusals: 0, ...more });

describe("after a connection has ended", () => {
  it.each([
    [515, "reconnect", "now"],
    [428, "reconnect", "later"],
    [408, "reconnect", "later"],
    [503, "reconnect", "later"],
    [500, "reconnect", "later"],
    [501, "reconnect", "later"],
    [1006, "reconnect", "later"],
  ])("with %i: %s %s", (code, kind, when) => {
    expect(ended(code)).toMatchObject({ kind, when });
  });

  it("with 440 nobody connects before they were given the lease anew", () => {
    expect(ended(440).kind).toBe("yield");
  });

  it("with 401 the link is over, where there was one", () => {
    expect(ended(401).kind).toBe("unlinked");
    expect(ended(401, { linked: false }).kind).toBe("reconnect");
  });

  it.each([402, 403, 406, 411])("with %i a person has to do something", (code) => {
    const next = ended(code);
    expect(next.kind).toBe("halt");
    expect(next.reason.length).toBeGreaterThan(20);
  });

  it("with 405 it is tried some times", () => {
    expect(ended(405, { refusals: 4 }).kind).toBe("reconnect");
    expect(ended(405, { refusals: 5 })).toMatchObject({ kind: "halt" });
  });

  it("with 408 nobody scanned the code, if one was shown", () => {
    expect(ended(408, { linked: false, shown: true }).kind).toBe("unscanned");
    expect(ended(408, { linked: false, shown: false }).kind).toBe("reconnect");
    expect(ended(408, { linked: true, shown: true }).kind).toBe("reconnect");
  });

  it("an end that nobody knows wipes nothing", () => {
    for (let code = 300; code < 600; code++) {
      if (code !== 401) expect(ended(code).kind).not.toBe("unlinked");
    }
  });
});
