import { describe, expect, it } from "vitest";
import { createPeople, type Identity } from "../../../adapters/whatsapp-cloud/people.js";
import type { ChannelStore } from "../../../src/channels/index.js";
import { DaleError } from "../../../src/errors/index.js";
import { createMemoryChannelStore } from "../../../src/store/index.js";

const P = "5491155550001";
const Q = "5491155550002";
const A = "AR.111";
const B = "AR.222";
const by = (...ids: readonly string[]): Identity => ({
  phones: ids.filter((id) => /^\d/.test(id)),
  userIds: ids.filter((id) => !/^\d/.test(id)),
});

function world(store: ChannelStore = createMemoryChannelStore()) {
  const counts: string[] = [];
  return { people: createPeople(store, (event) => counts.push(event)), counts, store };
}

describe("who is who on the Cloud API", () => {
  it("calls a person by the number that they were first seen with, whatever else is told of them", async () => {
    const { people } = world();
    expect(await people.nameOf(by(P, A), 1)).toBe(P);
    expect(await people.nameOf(by(A), 2)).toBe(P);
    expect(await people.nameOf(by(P), 3)).toBe(P);
  });

  it("calls a person by their business-scoped id where that was all that was known, and goes on with it", async () => {
    const { people } = world();
    expect(await people.nameOf(by(A), 1)).toBe(A);
    expect(await people.nameOf(by(P, A), 2)).toBe(A);
    expect(await people.nameOf(by(P), 3)).toBe(A);
  });

  it("knows who was seen before there were business-scoped ids", async () => {
    const { people } = world();
    expect(await people.nameOf(by(P), 1)).toBe(P);
    expect(await people.nameOf(by(P, A), 2)).toBe(P);
    expect(await people.nameOf(by(A), 3)).toBe(P);
  });

  it("keeps the older name of one person who had two", async () => {
    const { people } = world();
    await people.nameOf(by(A), 1);
    await people.nameOf(by(P), 2);
    expect(await people.nameOf(by(P, A), 3)).toBe(A);
    expect(await people.nameOf(by(P), 4)).toBe(A);
  });

  it("knows a parent's id for the same person", async () => {
    const { people } = world();
    await people.nameOf(by(A, "AR.ENT.9"), 1);
    expect(await people.nameOf(by("AR.ENT.9"), 2)).toBe(A);
  });

  it("knows them in another process, and after a restart", async () => {
    const { people, store } = world();
    await people.nameOf(by(P, A), 1);
    expect(await world(store).people.nameOf(by(A), 2)).toBe(P);
  });

  it.each([
    ["Brazil", "5511987654321", "551187654321"],
    ["Argentina", "541155550001", P],
  ])("knows a number of %s in both of its forms", async (_, one, other) => {
    const { people } = world();
    await people.nameOf(by(one), 1);
    expect(await people.nameOf(by(other), 2)).toBe(one);
    expect(await people.nameOf(by(other, A), 3)).toBe(one);
    expect(await people.nameOf(by(A), 4)).toBe(one);
  });

  it("takes the other form of a number for nobody's when it is another person's by its id", async () => {
    const { people } = world();
    await people.nameOf(by("5511987654321", A), 1);
    expect(await people.nameOf(by("551187654321", B), 2)).toBe("551187654321");
  });

  it("knows nobody without any id", async () => {
    expect(await world().people.nameOf(by(), 1)).toBeUndefined();
  });

  describe("when somebody changes their number", () => {
    it("goes on with their name under both new ids, and writes to the new number", async () => {
      const { people } = world();
      await people.nameOf(by(P, A), 1_000);
      await people.moved(by(P, A), by(Q, B), 2_000);
      expect(await people.nameOf(by(Q, B), 3_000)).toBe(P);
      expect(await people.nameOf(by(B), 3_000)).toBe(P);
      expect(await people.nameOf(by(A), 3_000)).toBe(P);
      expect(await people.addressOf(P)).toMatchObject({ phone: Q, userId: B });
    });

    it("goes on when only the business-scoped ids are told, and forgets the number that they have given up", async () => {
      const { people } = world();
      await people.nameOf(by(P, A), 1_000);
      await people.moved(by(A), by(B), 2_000);
      expect(await people.nameOf(by(B), 3_000)).toBe(P);
      const address = await people.addressOf(P);
      expect(address?.userId).toBe(B);
      expect(address?.phone).toBeUndefined();
    });

    it("goes on when only numbers are told", async () => {
      const { people } = world();
      await people.nameOf(by(P), 1_000);
      await people.moved(by(P), by(Q), 2_000);
      expect(await people.nameOf(by(Q), 3_000)).toBe(P);
    });

    it("takes whoever has the old number then for somebody else", async () => {
      const { people, counts } = world();
      await people.nameOf(by(P), 1_000);
      await people.moved(by(P), by(Q), 2_000);
      const next = await people.nameOf(by(P), 9_000);
      expect(next).not.toBe(P);
      expect(await people.nameOf(by(P), 10_000)).toBe(next);
      expect(await people.addressOf(next ?? "")).toMatchObject({ phone: P });
      expect(await people.addressOf(P)).toMatchObject({ phone: Q });
      expect(counts).toEqual(["number_reassigned"]);
    });

    it("still knows a message that was sent before, and comes after", async () => {
      const { people } = world();
      await people.nameOf(by(P, A), 1_000);
      await people.moved(by(P, A), by(Q, B), 5_000);
      expect(await people.nameOf(by(P), 4_000)).toBe(P);
      expect(await people.nameOf(by(P, A), 4_000)).toBe(P);
      expect(await people.addressOf(P)).toMatchObject({ phone: Q, userId: B });
      expect(await people.nameOf(by(P), 9_000)).not.toBe(P);
    });

    it("is told of it again, and nothing changes; not even when the new number was given on since", async () => {
      const { people } = world();
      await people.nameOf(by(P, A), 1_000);
      await people.moved(by(P, A), by(Q, B), 2_000);
      await people.moved(by(P, A), by(Q, B), 2_000);
      expect(await people.nameOf(by(Q, B), 3_000)).toBe(P);
      const next = await people.nameOf(by(Q, "AR.333"), 7_000);
      expect(next).not.toBe(P);
      await people.moved(by(P, A), by(Q, B), 2_000);
      expect(await people.nameOf(by(Q, "AR.333"), 8_000)).toBe(next);
      expect((await people.addressOf(P))?.phone).toBeUndefined();
    });

    it("may change back", async () => {
      const { people } = world();
      await people.nameOf(by(P), 1_000);
      await people.moved(by(P), by(Q), 2_000);
      await people.moved(by(Q), by(P), 3_000);
      expect(await people.nameOf(by(P), 4_000)).toBe(P);
      expect(await people.addressOf(P)).toMatchObject({ phone: P });
    });

    it("notes down nothing of strangers", async () => {
      const { people } = world();
      await people.moved(by(P, A), by(Q, B), 2_000);
      expect(await people.nameOf(by(Q, B), 3_000)).toBe(Q);
    });
  });

  describe("when a number is given to somebody else", () => {
    it("lets nobody into the other's session, and sends the other nothing at that number", async () => {
      const { people, counts } = world();
      await people.nameOf(by(P, A), 1_000);
      expect(await people.nameOf(by(P, B), 2_000)).toBe(B);
      expect(await people.nameOf(by(B), 3_000)).toBe(B);
      expect(await people.nameOf(by(A), 3_000)).toBe(P);
      expect(await people.addressOf(B)).toMatchObject({ phone: P, userId: B });
      const before = await people.addressOf(P);
      expect(before?.userId).toBe(A);
      expect(before?.phone).toBeUndefined();
      expect(counts).toEqual(["number_reassigned"]);
    });

    it("is not given back by a message that comes late", async () => {
      const { people } = world();
      await people.nameOf(by(P, A), 1_000);
      await people.nameOf(by(P, B), 5_000);
      expect(await people.nameOf(by(P, A), 4_000)).toBe(P);
      expect(await people.nameOf(by(P, B), 6_000)).toBe(B);
      expect((await people.addressOf(P))?.phone).toBeUndefined();
    });
  });

  it("writes to where a person was last seen", async () => {
    const { people } = world();
    await people.nameOf(by(P, A), 1_000);
    expect(await people.addressOf(P)).toMatchObject({ phone: P, userId: A });
    await people.nameOf(by(A), 2_000);
    expect(await people.addressOf(P)).toMatchObject({ phone: P, userId: A });
    expect(await people.addressOf("nobody")).toBeUndefined();
  });

  it("learns what Meta calls a number, unless that is somebody's already", async () => {
    const { people } = world();
    await people.nameOf(by(P), 1_000);
    await people.alsoCalled(P, "541155550001", 2_000);
    expect(await people.nameOf(by("541155550001"), 3_000)).toBe(P);
    await people.nameOf(by(Q), 1_000);
    await people.alsoCalled(P, Q, 2_000);
    expect(await people.nameOf(by(Q), 3_000)).toBe(Q);
  });

  it("refuses what another version wrote down, and does not guess", async () => {
    const { people, store } = world();
    await store.set(`alias:${P}`, JSON.stringify({ version: 2, name: "x" }));
    await expect(people.nameOf(by(P), 1)).rejects.toBeInstanceOf(DaleError);
  });
});
