import {
  addTransactionCapability,
  type BinaryNode,
  Curve,
  DEFAULT_CONNECTION_CONFIG,
  encodeBigEndian,
  encodeWAMessage,
  generateSignalPubKey,
  initAuthCreds,
  KEY_BUNDLE_TYPE,
  proto,
  type SignalDataSet,
  type SignalDataTypeMap,
  type SignalKeyStore,
  unpadRandomMax16,
  xmppPreKey,
  xmppSignedPreKey,
} from "@whiskeysockets/baileys";
import { Mutex } from "async-mutex";
import { silentLogger } from "./silent-logger.js";

/** The public keys that a linked device has uploaded; whoever writes to it begins a session with them. */
export interface KeyBundle {
  readonly jid: string;
  readonly registrationId: number;
  readonly identity: Uint8Array;
  readonly signedPreKey: { readonly id: number; readonly key: Uint8Array; readonly signature: Uint8Array };
  /** Each is given away once. */
  readonly preKeys: { readonly id: number; readonly key: Uint8Array }[];
}

export interface Encrypted {
  readonly type: "pkmsg" | "msg" | "skmsg";
  readonly ciphertext: Uint8Array;
}

/** One phone with Signal's keys in memory: a contact's, or that of the account's owner. */
export interface SignalDevice {
  /** What another device needs to write to this one; as the server would hand it out. */
  bundleFor(jid: string): Promise<BinaryNode>;
  encryptFor(bundle: KeyBundle, message: proto.IMessage): Promise<Encrypted>;
  decryptFrom(jid: string, enc: BinaryNode): Promise<proto.Message>;
  /** For a group: what makes the key known comes with the first message. */
  encryptForGroup(group: string, own: string, message: proto.IMessage): Promise<GroupEncrypted>;
  decryptFromGroup(group: string, author: string, ciphertext: Uint8Array): Promise<proto.Message>;
  learnGroupKey(author: string, item: proto.Message.ISenderKeyDistributionMessage): Promise<void>;
  /** Forgets every session: the other side has linked anew. */
  forgetSessions(): void;
}

export interface GroupEncrypted {
  readonly ciphertext: Uint8Array;
  readonly distribution: proto.IMessage;
}

/**
 * All phones write to the same address, and libsignal works off what is done for an address in the async context of
 * whoever was first: two at a time would write into each other's transactions.
 */
const mutex = new Mutex();

export function createSignalDevice(): SignalDevice {
  const creds = initAuthCreds();
  let kept = newKeys();
  let nextPreKey = 100;

  function newKeys() {
    const keys = addTransactionCapability(memoryKeys(), silentLogger, { maxCommitRetries: 1, delayBetweenTriesMs: 1 });
    return { keys, signal: DEFAULT_CONNECTION_CONFIG.makeSignalRepository({ creds, keys }, silentLogger) };
  }

  return {
    async bundleFor(jid) {
      const id = nextPreKey++;
      const pair = Curve.generateKeyPair();
      await kept.keys.set({ "pre-key": { [id]: pair } });
      return {
        tag: "user",
        attrs: { jid },
        content: [
          { tag: "registration", attrs: {}, content: encodeBigEndian(creds.registrationId) },
          { tag: "type", attrs: {}, content: KEY_BUNDLE_TYPE },
          { tag: "identity", attrs: {}, content: creds.signedIdentityKey.public },
          xmppSignedPreKey(creds.signedPreKey),
          xmppPreKey(pair, id),
        ],
      };
    },
    encryptFor: alone(async (bundle, message) => {
      const { jid } = bundle;
      if (!(await kept.signal.validateSession(jid)).exists) {
        const preKey = bundle.preKeys.shift();
        await kept.signal.injectE2ESession({
          jid,
          session: {
            registrationId: bundle.registrationId,
            identityKey: generateSignalPubKey(bundle.identity),
            signedPreKey: {
              keyId: bundle.signedPreKey.id,
              publicKey: generateSignalPubKey(bundle.signedPreKey.key),
              signature: bundle.signedPreKey.signature,
            },
            ...(preKey ? { preKey: { keyId: preKey.id, publicKey: generateSignalPubKey(preKey.key) } } : {}),
          },
        });
      }
      return kept.signal.encryptMessage({ jid, data: encodeWAMessage(message) });
    }),
    decryptFrom: alone(async (jid, enc) => {
      const type = enc.attrs.type === "pkmsg" ? "pkmsg" : "msg";
      const plain = await kept.signal.decryptMessage({ jid, type, ciphertext: bytesOf(enc.content) });
      return proto.Message.decode(unpadRandomMax16(plain));
    }),
    encryptForGroup: alone(async (group, own, message) => {
      const data = encodeWAMessage(message);
      const sealed = await kept.signal.encryptGroupMessage({ group, meId: own, data });
      const axolotlSenderKeyDistributionMessage = sealed.senderKeyDistributionMessage;
      const senderKeyDistributionMessage = { groupId: group, axolotlSenderKeyDistributionMessage };
      return { ciphertext: sealed.ciphertext, distribution: { senderKeyDistributionMessage } };
    }),
    decryptFromGroup: alone(async (group, authorJid, msg) => {
      const plain = await kept.signal.decryptGroupMessage({ group, authorJid, msg });
      return proto.Message.decode(unpadRandomMax16(plain));
    }),
    learnGroupKey: alone((authorJid, item) => kept.signal.processSenderKeyDistributionMessage({ authorJid, item })),
    forgetSessions() {
      kept = newKeys();
    },
  };
}

function alone<Given extends unknown[], T>(work: (...given: Given) => Promise<T>): (...given: Given) => Promise<T> {
  return (...given) => mutex.runExclusive(() => work(...given));
}

export function bytesOf(content: BinaryNode["content"]): Buffer {
  return content instanceof Uint8Array ? Buffer.from(content) : Buffer.alloc(0);
}

export function memoryKeys(): SignalKeyStore {
  const kept = new Map<string, unknown>();
  return {
    get<T extends keyof SignalDataTypeMap>(type: T, ids: string[]) {
      const found: { [id: string]: SignalDataTypeMap[T] } = {};
      for (const id of ids) {
        const value = kept.get(`${type}:${id}`);
        if (value !== undefined) found[id] = value as SignalDataTypeMap[T];
      }
      return found;
    },
    set(data: SignalDataSet) {
      for (const [type, entries] of Object.entries(data)) {
        for (const [id, value] of Object.entries(entries ?? {})) {
          if (value === null || value === undefined) kept.delete(`${type}:${id}`);
          else kept.set(`${type}:${id}`, value);
        }
      }
    },
  };
}
