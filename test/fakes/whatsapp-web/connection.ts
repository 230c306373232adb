import { type BinaryNode, decodeBinaryNode, encodeBinaryNode, type proto } from "@whiskeysockets/baileys";
import type { WebSocket } from "ws";
import { createNoiseResponder, type ServerIdentity } from "./noise.js";

/** One websocket of a client. */
export interface Connection {
  /** The client has said that it wants its messages. */
  active: boolean;
  send(node: BinaryNode): void;
  close(): void;
  /** Ends it without a goodbye. */
  cut(): void;
}

export interface ConnectionEvents {
  onHello(payload: proto.ClientPayload, noiseKey: Uint8Array): void;
  onNode(node: BinaryNode): Promise<void>;
  onClosed(): void;
  /** The stand-in could not go on: a mistake of its own, or of the device, such as a message that nobody can read. */
  onFailed(error: unknown): void;
}

/** Stanzas are handled one after the other, in the order in which they came. */
export function createConnection(socket: WebSocket, identity: ServerIdentity, events: ConnectionEvents): Connection {
  let handled: Promise<void> = Promise.resolve();
  const noise = createNoiseResponder(identity, {
    onHello: events.onHello,
    onFrame(plain) {
      handled = handled.then(async () => events.onNode(await decodeBinaryNode(plain))).catch(fail);
    },
    write: (bytes) => socket.send(bytes),
  });
  /** A mistake of the stand-in must not pass for a fault of the network. */
  function fail(error: unknown): void {
    console.error("the WhatsApp stand-in failed:", error);
    events.onFailed(error);
    socket.terminate();
  }
  socket.on("message", (data: Buffer) => {
    try {
      noise.push(data);
    } catch (error) {
      fail(error);
    }
  });
  socket.on("close", () => events.onClosed());
  return {
    active: false,
    send(node) {
      if (socket.readyState === socket.OPEN) socket.send(noise.seal(encodeBinaryNode(node)));
    },
    close: () => socket.close(),
    cut: () => socket.terminate(),
  };
}
