import { randomBytes } from "node:crypto";
import type { BinaryNode, proto } from "@whiskeysockets/baileys";
import type { Encrypted } from "./signal-device.js";
import { type Group, type Identity, seconds, type World } from "./world.js";

export interface WritesOptions {
  /** Default: a new one. */
  readonly id?: string;
  /** In that group instead of the chat with the account. */
  readonly group?: Group;
  /** Under which address the message comes. Default `pn`; in a group always the LID. */
  readonly as?: "pn" | "lid";
  /** Whether the stanza names the person's other address too. Default true. */
  readonly alt?: boolean;
  /** By the platform's clock, seconds since 1970. Default now. */
  readonly at?: number;
  /** The ciphertext is damaged on its way. */
  readonly damaged?: boolean;
}

/** Somebody's phone: what they write reaches the account's linked device, encrypted for it. */
export interface Writer {
  /** @returns the message's id */
  writes(content: string | proto.IMessage, options?: WritesOptions): Promise<string>;
  /** Encrypts a message again and sends it under its id, as phones do when they are asked to. */
  resends(id: string): Promise<void>;
}

export interface Incoming {
  writerOf(person: Identity): Writer;
  /** The account's owner writes to that person on the phone itself: the linked device gets a copy. */
  ownerWrites(person: Identity, text: string): Promise<void>;
  /** A message that is not encrypted, as the server itself sends some. */
  plain(from: string, content: string | proto.IMessage, attrs?: Record<string, string>): void;
}

interface Written {
  readonly person: Identity;
  readonly message: proto.IMessage;
  readonly attrs: Record<string, string>;
}

export function newMessageId(): string {
  return `3A${randomBytes(9).toString("hex").toUpperCase()}`;
}

/** @param deliver hands a message to the device, now or when it is back */
export function createIncoming(
  world: World,
  encodePlain: (message: proto.IMessage) => Uint8Array,
  deliver: (stanza: BinaryNode) => void,
): Incoming {
  const written = new Map<string, Written>();
  const introduced = new Set<string>();

  function bundle() {
    if (!world.linked) throw new Error("no device is linked");
    return world.linked.bundle;
  }

  function attrsFor(person: Identity, id: string, options: WritesOptions): Record<string, string> {
    const { group, alt = true } = options;
    const common = { id, t: String(options.at ?? seconds()), type: "text", notify: person.name };
    if (group) {
      const other = alt ? { participant_pn: person.pn } : {};
      return { ...common, from: group.jid, participant: person.lid, addressing_mode: "lid", ...other };
    }
    if (options.as === "lid") {
      return { ...common, from: person.lid, addressing_mode: "lid", ...(alt ? { sender_pn: person.pn } : {}) };
    }
    return { ...common, from: person.pn, ...(alt ? { sender_lid: person.lid } : {}) };
  }

  /** In a group the key comes with the first message, and whenever the device has linked anew. */
  async function seal(person: Identity, message: proto.IMessage, group: Group | undefined): Promise<BinaryNode[]> {
    const to = bundle();
    if (!group) return [encNode(await person.device.encryptFor(to, message))];
    const shared = await person.device.encryptForGroup(group.jid, person.lid, message);
    const nodes = [encNode({ type: "skmsg", ciphertext: shared.ciphertext })];
    const introduction = `${person.lid} ${group.jid} ${Buffer.from(to.identity).toString("hex")}`;
    if (introduced.has(introduction)) return nodes;
    introduced.add(introduction);
    return [encNode(await person.device.encryptFor(to, shared.distribution)), ...nodes];
  }

  return {
    writerOf: (person) => ({
      async writes(content, options = {}) {
        const id = options.id ?? newMessageId();
        const message = typeof content === "string" ? { conversation: content } : content;
        const attrs = attrsFor(person, id, options);
        const sealed = await seal(person, message, options.group);
        written.set(id, { person, message, attrs });
        deliver({ tag: "message", attrs, content: options.damaged ? sealed.map(damage) : sealed });
        return id;
      },
      async resends(id) {
        const known = written.get(id);
        if (!known) return;
        const sealed = encNode(await known.person.device.encryptFor(bundle(), known.message));
        deliver({ tag: "message", attrs: known.attrs, content: [sealed] });
      },
    }),
    async ownerWrites(person, text) {
      const message = { deviceSentMessage: { destinationJid: person.pn, message: { conversation: text } } };
      const sealed = encNode(await world.owner.device.encryptFor(bundle(), message));
      const attrs = { from: world.owner.pn, recipient: person.pn, id: newMessageId(), t: seconds(), type: "text" };
      deliver({ tag: "message", attrs, content: [sealed] });
    },
    plain(from, content, attrs = {}) {
      const message = typeof content === "string" ? { conversation: content } : content;
      const plaintext = { tag: "plaintext", attrs: {}, content: encodePlain(message) };
      const stanza = { from, id: newMessageId(), t: seconds(), type: "text", ...attrs };
      deliver({ tag: "message", attrs: stanza, content: [plaintext] });
    },
  };
}

function encNode({ type, ciphertext }: Encrypted): BinaryNode {
  return { tag: "enc", attrs: { v: "2", type }, content: ciphertext };
}

/** Flips a bit where the message authentication code is. */
function damage(node: BinaryNode): BinaryNode {
  const bytes = Buffer.from(node.content instanceof Uint8Array ? node.content : []);
  const at = Math.max(0, bytes.length - 12);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return { ...node, content: bytes };
}
