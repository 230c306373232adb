/**
 * A local stand-in for the WhatsApp Web server with one account, for tests only: a device pairs with it by QR code or by
 * code, logs in, receives encrypted messages, sends, and gets acknowledgements and receipts, all over the real protocol
 * and with real Signal sessions on the other side. It keeps what was sent while no device was connected. It knows
 * nothing of Dale.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type BinaryNode,
  getBinaryNodeChild,
  getBinaryNodeChildren,
  type MediaType,
  proto,
} from "@whiskeysockets/baileys";
import { WebSocketServer } from "ws";
import { type Connection, createConnection } from "./connection.js";
import { createIncoming, type Writer } from "./incoming.js";
import { createMediaHost, type UploadedFile } from "./media-host.js";
import { createServerIdentity } from "./noise.js";
import { takeMessage } from "./outgoing.js";
import { createPairing } from "./pairing.js";
import { answerQuery } from "./queries.js";
import { hushLibsignal } from "./quiet.js";
import {
  createIdentity,
  createWorld,
  type Faults,
  type Group,
  type Identity,
  phoneAt,
  type SentMessage,
  seconds,
  type World,
} from "./world.js";

export type { Group, Identity, SendFate, SentMessage } from "./world.js";

export interface Contact extends Identity, Writer {}

export interface FakeWhatsappWeb {
  /** For `socket_url`. */
  readonly url: string;
  readonly owner: Identity;
  readonly faults: Faults;
  /** What the linked device sent, oldest first. */
  readonly sent: readonly SentMessage[];
  /** Every stanza that came from the device. */
  readonly seen: readonly BinaryNode[];
  /** `register` and `login`, in order. */
  readonly logins: readonly ("register" | "login")[];
  readonly media: { readonly fetched: readonly string[]; forget(): void; damage(): void };
  readonly connected: boolean;
  /** What it could not go on with: messages of the device that nobody can read, and its own mistakes. */
  readonly failures: readonly unknown[];
  contact(name?: string): Contact;
  group(members: readonly Identity[], subject?: string): Group;
  leaveGroup(group: Group): void;
  scan(qr: string): void;
  enterCode(code: string): Promise<void>;
  ownerWrites(person: Identity, text: string): Promise<void>;
  ownerBlocks(person: Identity): void;
  plain(from: string, content: string | proto.IMessage, attrs?: Record<string, string>): void;
  upload(bytes: Uint8Array, kind: MediaType): Promise<UploadedFile>;
  /** Sends the device the last message once more, as it was or encrypted again. */
  redeliver(how: "same" | "encrypted again"): Promise<void>;
  /** Tells the device what became of its message: that it arrived, or what `type` says, now or at `at` (seconds). */
  receipt(
    message: Pick<SentMessage, "id" | "to">,
    more?: { readonly type?: string; readonly participant?: string; readonly at?: number },
  ): void;
  /** Tells the device anything. */
  stanza(node: BinaryNode): void;
  /** Ends the stream with that code, as the server does; without one, as when another client takes over. */
  streamError(code?: number, inner?: BinaryNode): void;
  /** Cuts the connection. */
  cut(): void;
  /** Somebody removes the device on the phone: it is told if it is connected, and can log in no more. */
  logOut(): void;
  /** Resolves with the next event of the stand-in: `paired`, `login`, `codeAsked`, `sent`, `closed`. */
  next(event: "paired" | "login" | "codeAsked" | "sent" | "closed"): Promise<unknown>;
  close(): Promise<void>;
}

export async function startFakeWhatsappWeb(): Promise<FakeWhatsappWeb> {
  hushLibsignal();
  const identity = createServerIdentity();
  const media = createMediaHost();
  const http = createServer((request, response) => media.serve(request, response));
  const sockets = new WebSocketServer({ server: http });
  let current: Connection | undefined;
  let isPaired = false;
  let last: BinaryNode | undefined;
  const logins: ("register" | "login")[] = [];
  const failures: unknown[] = [];
  const waiting = new Map<string, BinaryNode[]>();

  const world: World = createWorld({
    send: (node) => void (world.faults.deaf || current?.send(node)),
    cut: () => current?.cut(),
    hangUp: () => current?.close(),
  });
  const pairing = createPairing(world);
  const incoming = createIncoming(world, (message) => proto.Message.encode(message).finish(), deliver);
  world.on("paired", () => {
    isPaired = true;
  });

  function deliver(stanza: BinaryNode): void {
    last = stanza;
    const key = keyOf(stanza.attrs);
    waiting.set(key, [...(waiting.get(key) ?? []), stanza]);
    if (current?.active) world.send(stanza);
  }
  function offlineEnd(count: number): void {
    const offline = { tag: "offline", attrs: { count: String(count) } };
    world.send({ tag: "ib", attrs: { from: "s.whatsapp.net" }, content: [offline] });
  }
  /** The device is ready: it gets what has waited, then word that this was all. */
  function activate(connection: Connection): void {
    connection.active = true;
    const held = [...waiting.values()].flat();
    for (const node of held) world.send({ ...node, attrs: { ...node.attrs, offline: "1" } });
    if (!world.faults.noOfflineEnd) offlineEnd(held.length);
  }
  function logIn(connection: Connection, noiseKey: Uint8Array): void {
    const { loginFailure } = world.faults;
    const known = isPaired && world.linked && Buffer.from(noiseKey).equals(world.linked.noiseKey);
    const refusal = loginFailure ?? (known ? undefined : 401);
    if (refusal !== undefined) {
      connection.send({ tag: "failure", attrs: { reason: String(refusal) } });
      connection.close();
      return;
    }
    logins.push("login");
    connection.send({ tag: "success", attrs: { t: seconds(), lid: world.lidJid } });
    world.emit("login");
  }

  sockets.on("connection", (socket) => {
    const connection = createConnection(socket, identity, {
      onHello(payload, noiseKey) {
        // There is one connection a device: a new one takes the place of the old.
        if (current && current !== connection) {
          current.send({ tag: "stream:error", attrs: {}, content: [{ tag: "conflict", attrs: { type: "replaced" } }] });
          current.close();
        }
        current = connection;
        if (!payload.devicePairingData) return logIn(connection, noiseKey);
        logins.push("register");
        isPaired = false;
        pairing.register(payload, noiseKey);
      },
      async onNode(node) {
        if (connection !== current || world.faults.deaf) return;
        world.seen.push(node);
        await handle(node, connection);
      },
      onClosed() {
        if (connection === current) current = undefined;
        world.emit("closed");
      },
      onFailed: (error) => void failures.push(error),
    });
  });

  async function handle(node: BinaryNode, connection: Connection): Promise<void> {
    const { attrs, tag } = node;
    if (tag === "iq") {
      if (!pairing.handle(node)) await answerQuery(world, node, () => activate(connection));
    } else if (tag === "message") await takeMessage(world, node);
    else if (tag === "ack" && attrs.class === "message") settle(attrs);
    else if (tag === "receipt" && attrs.type === "retry") {
      const from = phoneAt(world, attrs.participant ?? attrs.to ?? "");
      if (from) await incoming.writerOf(from).resends(attrs.id ?? "");
    } else if (tag === "receipt") {
      settle(attrs);
      const more = getBinaryNodeChildren(getBinaryNodeChild(node, "list"), "item");
      for (const item of more) settle({ ...attrs, id: item.attrs.id ?? "" });
    }
  }
  /** The device says that it has the message, or cannot read it: it is not handed over again, unless it was sent again. */
  function settle(attrs: BinaryNode["attrs"]): void {
    const key = keyOf({ ...attrs, from: attrs.to ?? "" });
    const [, ...later] = waiting.get(key) ?? [];
    if (later.length > 0) waiting.set(key, later);
    else waiting.delete(key);
  }

  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;

  return {
    url: `ws://127.0.0.1:${port}/ws/chat`,
    owner: world.owner,
    faults: world.faults,
    sent: world.sent,
    seen: world.seen,
    logins,
    failures,
    media,
    get connected() {
      return current !== undefined;
    },
    contact(name = "Ana") {
      const person = createIdentity(name);
      world.people.push(person);
      return { ...person, ...incoming.writerOf(person) };
    },
    group(members, subject = "Neighbours") {
      const group = { jid: `1203630${String(world.groups.length + 1).padStart(11, "0")}@g.us`, subject, members };
      world.groups.push(group);
      return group;
    },
    leaveGroup: (group) => void world.groups.splice(world.groups.indexOf(group), 1),
    scan: pairing.scan,
    enterCode: pairing.enterCode,
    ownerWrites: incoming.ownerWrites,
    ownerBlocks: ({ pn }) => void world.blocked.add(pn),
    plain: incoming.plain,
    upload: media.upload,
    async redeliver(how) {
      if (!last) return;
      if (how === "same") return world.send(last);
      const from = phoneAt(world, last.attrs.participant ?? last.attrs.from ?? "");
      if (from) await incoming.writerOf(from).resends(last.attrs.id ?? "");
    },
    receipt({ id, to }, { at, ...more } = {}) {
      world.send({ tag: "receipt", attrs: { id, from: to, t: at === undefined ? seconds() : String(at), ...more } });
    },
    stanza: world.send,
    streamError(code, inner) {
      const attrs: Record<string, string> = code === undefined ? {} : { code: String(code) };
      world.send({ tag: "stream:error", attrs, ...(inner ? { content: [inner] } : {}) });
      world.hangUp();
    },
    cut: world.cut,
    logOut() {
      isPaired = false;
      const removed = { tag: "conflict", attrs: { type: "device_removed" } };
      world.send({ tag: "stream:error", attrs: { code: "401" }, content: [removed] });
      world.hangUp();
    },
    next: (event) => new Promise((resolve) => world.once(event, resolve)),
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      await new Promise((resolve) => sockets.close(resolve));
      await new Promise((resolve) => {
        http.close(resolve);
        http.closeAllConnections();
      });
    },
  };
}

/** A message's identity: ids are unique per sender only. */
function keyOf({ from, participant = "", id }: BinaryNode["attrs"]): string {
  return `${from} ${participant} ${id}`;
}
