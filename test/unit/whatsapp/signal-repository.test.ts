import {
  addTransactionCapability,
  Curve,
  encodeWAMessage,
  initAuthCreds,
  parseAndInjectE2ESessions,
  proto,
  unpadRandomMax16,
} from "@whiskeysockets/baileys";
import { beforeEach, describe, expect, it } from "vitest";
import { signalRepositoryWith } from "../../../adapters/whatsapp/signal-repository.js";
import { silentLogger } from "../../../adapters/whatsapp/silent-logger.js";
import { hushLibsignal } from "../../fakes/whatsapp-web/quiet.js";
import { createSignalDevice, type Encrypted, memoryKeys } from "../../fakes/whatsapp-web/signal-device.js";

const own = "15550000001:1@s.whatsapp.net";
const theirs = "15550000002@s.whatsapp.net";

/** Two devices that write to each other: ours, and somebody's phone. */
/** Two devices that write to each other: one of ours, and somebody's phone. */
async function createPair() {
  const creds = initAuthCreds();
  const kept: string[] = [];
  const phone = createSignalDevice();
  const keys = addTransactionCapability(memoryKeys(), silentLogger, { maxCommitRetries: 1, delayBetweenTriesMs: 1 });
  const keep = async (_: Uint8Array, padded: Uint8Array) => void kept.push(textOf(padded));
  const ours = signalRepositoryWith({ keep }, new AbortController().signal)({ creds, keys }, silentLogger);
  const preKey = Curve.generateKeyPair();
  await keys.set({ "pre-key": { "7": preKey } });
  const { keyId, keyPair, signature } = creds.signedPreKey;
  const bundle = {
    jid: own,
    registrationId: creds.registrationId,
    identity: creds.signedIdentityKey.public,
    signedPreKey: { id: keyId, key: keyPair.public, signature },
    preKeys: [{ id: 7, key: preKey.public }],
  };
  return {
    kept,
    write: (text: string) => phone.encryptFor(bundle, { conversation: text }),
    take: async ({ type, ciphertext }: Encrypted) =>
      textOf(await ours.decryptMessage({ jid: theirs, type: type === "pkmsg" ? "pkmsg" : "msg", ciphertext })),
    answer: (text: string) => ours.encryptMessage({ jid: theirs, data: encodeWAMessage({ conversation: text }) }),
    read: async ({ type, ciphertext }: { type: string; ciphertext: Uint8Array }) =>
      (await phone.decryptFrom(own, { tag: "enc", attrs: { type }, content: ciphertext })).conversation,
    async beginAnew() {
      const list = { tag: "list", attrs: {}, content: [await phone.bundleFor(theirs)] };
      await parseAndInjectE2ESessions({ tag: "iq", attrs: {}, content: [list] }, ours);
    },
  };
}

describe("the repository of Signal sessions", () => {
  hushLibsignal();
  let pair: Awaited<ReturnType<typeof createPair>>;

  beforeEach(async () => {
    pair = await createPair();
  });

  it("reads and writes, and writes down what it has read", async () => {
    const { kept, write, take, answer, read } = pair;
    expect(await take(await write("one"))).toBe("one");
    expect(await read(await answer("two"))).toBe("two");
    const third = await write("three");
    expect(third.type).toBe("msg");
    expect(await take(third)).toBe("three");
    expect(kept).toEqual(["one", "three"]);
  });

  it("goes on with a session that was begun while the phone still wrote in the old one", async () => {
    const { write, take, answer, read, beginAnew } = pair;
    await take(await write("one"));
    await read(await answer("two"));
    await take(await write("three"));
    await beginAnew();
    const fourth = await answer("four");
    expect(fourth.type).toBe("pkmsg");
    // The first with a ratchet that the new session knows nothing of; then more of the same.
    for (const text of ["five", "six"]) expect(await take(await write(text))).toBe(text);
    const seventh = await answer("seven");
    expect(await read(fourth)).toBe("four");
    expect(await read(seventh)).toBe("seven");
    expect(await take(await write("eight"))).toBe("eight");
    expect(await read(await answer("nine"))).toBe("nine");
  });

  it("keeps two accounts apart that write to the same person at the same time", async () => {
    const accounts = [pair, await createPair()];
    await Promise.all(
      accounts.map(async ({ take, write, answer, read }) => {
        await take(await write("hello"));
        await read(await answer("hello"));
        for (let round = 0; round < 10; round++) {
          const written = [await write(`in ${round}.0`), await write(`in ${round}.1`)];
          const answered = await Promise.all([
            ...["0", "1", "2"].map((n) => answer(`out ${round}.${n}`)),
            ...written.map(async (message) => void (await take(message))),
          ]);
          for (const message of answered) if (message) expect(await read(message)).toMatch(/^out/);
        }
      }),
    );
    for (const { kept } of accounts) expect(kept).toHaveLength(21);
  });

  it("is left as it was by a message that belongs to no session", async () => {
    const { write, take, answer, read } = pair;
    await take(await write("one"));
    await read(await answer("two"));
    const { ciphertext } = await write("three");
    const damaged = Uint8Array.from(ciphertext);
    damaged[damaged.length - 1] = (damaged.at(-1) ?? 0) ^ 1;
    await expect(take({ type: "msg", ciphertext: damaged })).rejects.toThrow();
    expect(await take({ type: "msg", ciphertext })).toBe("three");
    await expect(take({ type: "msg", ciphertext })).rejects.toThrow();
    expect(await read(await answer("four"))).toBe("four");
  });
});

function textOf(padded: Uint8Array): string {
  return proto.Message.decode(unpadRandomMax16(padded)).conversation ?? "";
}
