import { describe, expect, it } from "vitest";
import { createSealer } from "../../../adapters/whatsapp/sealing.js";

const key = (fill: number) => Buffer.alloc(32, fill).toString("base64");
const unreadable = expect.objectContaining({ code: "secrets_unreadable" });

describe("the state of a linked device, as it is kept", () => {
  it("is in the clear where no key is configured", () => {
    const sealer = createSealer([]);
    expect(sealer.seal("creds", '{"a":1}')).toBe('{"a":1}');
    expect(sealer.open("creds", '{"a":1}')).toBe('{"a":1}');
  });

  it("shows nothing under a key, and never looks the same twice", () => {
    const sealer = createSealer([key(1)]);
    const [one, other] = [sealer.seal("creds", "private key"), sealer.seal("creds", "private key")];
    expect(one).not.toContain("private");
    expect(one).not.toBe(other);
    expect(sealer.open("creds", one)).toBe("private key");
  });

  it("cannot be moved to another place, altered, or opened with another key", () => {
    const sealer = createSealer([key(1)]);
    const sealed = sealer.seal("session:1", "private key");
    const altered = `${sealed.slice(0, -3)}${sealed.endsWith("A==") ? "B==" : "A=="}`;
    expect(() => sealer.open("session:2", sealed)).toThrow(unreadable);
    expect(() => sealer.open("session:1", altered)).toThrow(unreadable);
    expect(() => createSealer([key(2)]).open("session:1", sealed)).toThrow(unreadable);
    expect(() => createSealer([]).open("session:1", sealed)).toThrow(unreadable);
  });

  it("is opened with any of the keys, and sealed with the first", () => {
    const old = createSealer([key(1)]).seal("creds", "x");
    const both = createSealer([key(2), key(1)]);
    expect(both.open("creds", old)).toBe("x");
    expect(both.isCurrent(old)).toBe(false);
    const fresh = both.seal("creds", "x");
    expect(both.isCurrent(fresh)).toBe(true);
    expect(createSealer([key(2)]).open("creds", fresh)).toBe("x");
  });

  it("that was in the clear is still read, and is not as it should be", () => {
    const sealer = createSealer([key(1)]);
    expect(sealer.open("creds", '{"a":1}')).toBe('{"a":1}');
    expect(sealer.isCurrent('{"a":1}')).toBe(false);
    expect(createSealer([]).isCurrent('{"a":1}')).toBe(true);
  });
});
