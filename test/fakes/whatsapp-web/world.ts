import { EventEmitter } from "node:events";
import { type BinaryNode, jidDecode, type proto } from "@whiskeysockets/baileys";
import { createSignalDevice, type KeyBundle, type SignalDevice } from "./signal-device.js";

/** Somebody who has WhatsApp: a contact, or the account's owner. */
export interface Identity {
  /** `<digits>@s.whatsapp.net` */
  readonly pn: string;
  /** `<digits>@lid` */
  readonly lid: string;
  readonly name: string;
  readonly device: SignalDevice;
}

export interface Group {
  readonly jid: string;
  readonly subject: string;
  readonly members: readonly Identity[];
}

/** What a linked device is to the server. */
export interface LinkedDevice {
  readonly bundle: KeyBundle;
  readonly noiseKey: Uint8Array;
}

/** A message that the linked device sent, as the first addressee read it. */
export interface SentMessage {
  readonly id: string;
  readonly to: string;
  readonly text: string;
  readonly quotes?: string;
  readonly message: proto.IMessage;
  /** Addresses whose copy could be decrypted. */
  readonly readBy: readonly string[];
}

/** What becomes of the next message that the device sends. */
export type SendFate =
  /** Not taken: acknowledged with that error. */
  | { readonly kind: "refused"; readonly error: number }
  /** It never arrives. */
  | { readonly kind: "lost" }
  /** Taken, and nothing said. */
  | { readonly kind: "silent" }
  /** Taken, and the connection cut instead of an answer. */
  | { readonly kind: "cut" };

/** How the server misbehaves until told otherwise. */
export interface Faults {
  /** It reads and answers nothing at all. */
  deaf: boolean;
  /** It answers no question about who has which devices. */
  noUsync: boolean;
  /** The connection is cut at the next such question. */
  cutAtUsync: boolean;
  /** Nobody's phone says that a message arrived. */
  noDelivery: boolean;
  /** A login ends with this code. */
  loginFailure: number | undefined;
  /** What was typed while the device was away is handed over, but the end of it is never told. */
  noOfflineEnd: boolean;
  /** Ms before a message is acknowledged. */
  ackDelay: number;
  readonly fates: SendFate[];
}

/** Everything that the stand-in knows, for the files that make it up. */
export interface World extends EventEmitter {
  readonly owner: Identity;
  /** The device's own addresses. */
  readonly jid: string;
  readonly lidJid: string;
  linked: LinkedDevice | undefined;
  readonly people: Identity[];
  readonly groups: Group[];
  /** Addresses that the owner has blocked. */
  readonly blocked: Set<string>;
  readonly sent: SentMessage[];
  /** Stanzas that came from the device. */
  readonly seen: BinaryNode[];
  readonly faults: Faults;
  nextId(): string;
  /** To the device, when it is connected. */
  send(node: BinaryNode): void;
  /** Cuts the connection without a word. */
  cut(): void;
  /** Ends the connection politely. */
  hangUp(): void;
}

let numbers = 0;

/** A new identity with numbers that nobody else has. */
export function createIdentity(name: string): Identity {
  const n = ++numbers;
  return {
    pn: `1555${String(1_000_000 + n)}@s.whatsapp.net`,
    lid: `9${String(10_000_000_000_000 + n)}@lid`,
    name,
    device: createSignalDevice(),
  };
}

export function createWorld(link: Pick<World, "send" | "cut" | "hangUp">): World {
  const owner = createIdentity("Owner");
  let ids = 0;
  return Object.assign(new EventEmitter(), link, {
    owner,
    jid: owner.pn.replace("@", ":1@"),
    lidJid: owner.lid.replace("@", ":1@"),
    linked: undefined,
    people: [],
    groups: [],
    blocked: new Set<string>(),
    sent: [],
    seen: [],
    faults: {
      deaf: false,
      noUsync: false,
      cutAtUsync: false,
      noDelivery: false,
      loginFailure: undefined,
      noOfflineEnd: false,
      ackDelay: 0,
      fates: [],
    },
    nextId: () => `srv${++ids}`,
  });
}

/** Whose phone an address is; undefined for the linked device itself and for strangers. */
export function phoneAt(world: World, jid: string): Identity | undefined {
  const user = jidDecode(jid)?.user;
  const linkedDevice = isOwn(world, jid) && (jidDecode(jid)?.device ?? 0) !== 0;
  if (linkedDevice) return undefined;
  return [world.owner, ...world.people].find(({ pn, lid }) => user === userOf(pn) || user === userOf(lid));
}

export function isOwn(world: World, jid: string): boolean {
  const user = jidDecode(jid)?.user;
  return user === userOf(world.owner.pn) || user === userOf(world.owner.lid);
}

export function userOf(jid: string): string {
  return jid.slice(0, jid.indexOf("@"));
}

/** Seconds since 1970, as stanzas carry them. */
export function seconds(): string {
  return String(Math.floor(Date.now() / 1000));
}
