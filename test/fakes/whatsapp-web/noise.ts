import {
  aesDecryptGCM,
  aesEncryptGCM,
  Curve,
  hkdf,
  NOISE_MODE,
  NOISE_WA_HEADER,
  proto,
  sha256,
} from "@whiskeysockets/baileys";

/** What a server proves who it is with: a static key, and a chain of certificates for it. */
export interface ServerIdentity {
  readonly key: ReturnType<typeof Curve.generateKeyPair>;
  readonly chain: Uint8Array;
}

/** The server's side of one connection: Noise_XX_25519_AESGCM_SHA256 in WhatsApp's framing. */
export interface NoiseResponder {
  /** Takes bytes as they came; calls back for the handshake, then for every frame. */
  push(bytes: Uint8Array): void;
  /** A frame, ready to be written. Only after the handshake. */
  seal(plain: Uint8Array): Buffer;
}

export interface NoiseEvents {
  /** @param noiseKey the client's static key: the same for every login of a linked device */
  onHello(payload: proto.ClientPayload, noiseKey: Uint8Array): void;
  onFrame(plain: Buffer): void;
  write(bytes: Uint8Array): void;
}

const nothing = Buffer.alloc(0);
const year2100 = 4_102_444_800;

export function createServerIdentity(): ServerIdentity {
  const root = Curve.generateKeyPair();
  const intermediate = Curve.generateKeyPair();
  const key = Curve.generateKeyPair();
  const certify = (serial: number, issuerSerial: number, subject: Uint8Array, signer: Uint8Array) => {
    const fields = { serial, issuerSerial, key: subject, notBefore: 0, notAfter: year2100 };
    const details = Buffer.from(proto.CertChain.NoiseCertificate.Details.encode(fields).finish());
    return { details, signature: Curve.sign(signer, details) };
  };
  const chain = proto.CertChain.encode({
    intermediate: certify(1, 0, intermediate.public, root.private),
    leaf: certify(2, 1, key.public, intermediate.private),
  }).finish();
  return { key, chain };
}

export function createNoiseResponder(identity: ServerIdentity, events: NoiseEvents): NoiseResponder {
  const ephemeral = Curve.generateKeyPair();
  let state: "intro" | "hello" | "finish" | "open" = "intro";
  let buffered = nothing;
  let hash = Buffer.from(NOISE_MODE);
  let chainKey = hash;
  let cipher = { key: hash, count: 0 };
  let reading = cipher;
  let writing = cipher;

  const nonce = (count: number) => {
    const iv = Buffer.alloc(12);
    iv.writeUInt32BE(count, 8);
    return iv;
  };
  const mixHash = (data: Uint8Array) => {
    hash = Buffer.from(sha256(Buffer.concat([hash, data])));
  };
  const mixKey = (shared: Uint8Array) => {
    const derived = Buffer.from(hkdf(Buffer.from(shared), 64, { salt: chainKey, info: "" }));
    chainKey = derived.subarray(0, 32);
    cipher = { key: derived.subarray(32), count: 0 };
  };
  const sealInHandshake = (plain: Uint8Array) => {
    const sealed = aesEncryptGCM(plain, cipher.key, nonce(cipher.count++), hash);
    mixHash(sealed);
    return sealed;
  };
  const openInHandshake = (sealed: Uint8Array) => {
    const plain = aesDecryptGCM(Buffer.from(sealed), cipher.key, nonce(cipher.count++), hash);
    mixHash(sealed);
    return plain;
  };

  function greet(frame: Uint8Array): void {
    const theirs = proto.HandshakeMessage.decode(frame).clientHello?.ephemeral ?? nothing;
    mixHash(theirs);
    mixHash(ephemeral.public);
    mixKey(Curve.sharedKey(ephemeral.private, theirs));
    const static_ = sealInHandshake(identity.key.public);
    mixKey(Curve.sharedKey(identity.key.private, theirs));
    const payload = sealInHandshake(identity.chain);
    const serverHello = { ephemeral: ephemeral.public, static: static_, payload };
    events.write(framed(Buffer.from(proto.HandshakeMessage.encode({ serverHello }).finish())));
  }

  function finish(frame: Uint8Array): void {
    const { static: sealedKey, payload } = proto.HandshakeMessage.decode(frame).clientFinish ?? {};
    const noiseKey = openInHandshake(sealedKey ?? nothing);
    mixKey(Curve.sharedKey(ephemeral.private, noiseKey));
    const hello = proto.ClientPayload.decode(openInHandshake(payload ?? nothing));
    const derived = Buffer.from(hkdf(nothing, 64, { salt: chainKey, info: "" }));
    reading = { key: derived.subarray(0, 32), count: 0 };
    writing = { key: derived.subarray(32), count: 0 };
    state = "open";
    events.onHello(hello, noiseKey);
  }

  /** False while more bytes are needed. */
  function readIntro(): boolean {
    // A client that was here before asks to be routed to the same edge, in front of everything.
    const routed = buffered.subarray(0, 2).toString("latin1") === "ED";
    if (routed && buffered.length < 7) return false;
    const from = routed ? 7 + buffered.readUIntBE(4, 3) : 0;
    if (buffered.length < from + 4) return false;
    if (!buffered.subarray(from, from + 4).equals(NOISE_WA_HEADER)) throw new Error("not a WhatsApp client");
    buffered = buffered.subarray(from + 4);
    mixHash(NOISE_WA_HEADER);
    state = "hello";
    return true;
  }

  return {
    push(bytes) {
      buffered = Buffer.concat([buffered, bytes]);
      if (state === "intro" && !readIntro()) return;
      while (buffered.length >= 3) {
        const end = 3 + buffered.readUIntBE(0, 3);
        if (buffered.length < end) return;
        const frame = buffered.subarray(3, end);
        buffered = buffered.subarray(end);
        if (state === "hello") {
          greet(frame);
          state = "finish";
        } else if (state === "finish") finish(frame);
        else events.onFrame(Buffer.from(aesDecryptGCM(frame, reading.key, nonce(reading.count++), nothing)));
      }
    },
    seal: (plain) => framed(aesEncryptGCM(plain, writing.key, nonce(writing.count++), nothing)),
  };
}

function framed(bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(3);
  length.writeUIntBE(bytes.length, 0, 3);
  return Buffer.concat([length, bytes]);
}
