import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  aesDecryptCTR,
  aesDecryptGCM,
  aesEncryptCTR,
  type BinaryNode,
  Curve,
  derivePairingCodeKey,
  getBinaryNodeChild,
  hkdf,
  hmacSign,
  proto,
  S_WHATSAPP_NET,
  WA_ADV_ACCOUNT_SIG_PREFIX,
} from "@whiskeysockets/baileys";
import { bytesOf } from "./signal-device.js";
import { seconds, type World } from "./world.js";

/** How a device becomes a linked one: by a QR code that the owner's phone scans, or by a code typed on it. */
export interface Pairing {
  /** A device without an account connects. */
  register(payload: proto.ClientPayload, noiseKey: Uint8Array): void;
  /** The owner's phone scans that QR code. */
  scan(qr: string): void;
  /** The owner types that code on the phone. */
  enterCode(code: string): Promise<void>;
  /** True when the stanza was part of a pairing. */
  handle(node: BinaryNode): boolean;
}

export function createPairing(world: World): Pairing {
  const accountKey = Curve.generateKeyPair();
  let hello: Buffer | undefined;
  let primary: { companion: Buffer; ephemeral: KeyPair; identity: KeyPair } | undefined;

  function succeed(advSecret: Buffer): void {
    if (!world.linked) return;
    const details = proto.ADVDeviceIdentity.encode({ rawId: 7, timestamp: Number(seconds()), keyIndex: 1 }).finish();
    const signed = Buffer.concat([WA_ADV_ACCOUNT_SIG_PREFIX, details, world.linked.bundle.identity]);
    const accountSignature = Curve.sign(accountKey.private, signed);
    const identity = { details, accountSignatureKey: accountKey.public, accountSignature };
    const signedIdentity = Buffer.from(proto.ADVSignedDeviceIdentity.encode(identity).finish());
    const sealed = { details: signedIdentity, hmac: hmacSign(signedIdentity, advSecret) };
    const content = proto.ADVSignedDeviceIdentityHMAC.encode(sealed).finish();
    world.send({
      tag: "iq",
      attrs: { from: S_WHATSAPP_NET, type: "set", id: world.nextId() },
      content: [
        {
          tag: "pair-success",
          attrs: {},
          content: [
            { tag: "device-identity", attrs: {}, content },
            { tag: "biz", attrs: { name: "Shop" } },
            { tag: "device", attrs: { jid: world.jid, lid: world.lidJid } },
            { tag: "platform", attrs: { name: "android" } },
          ],
        },
      ],
    });
  }

  function finishCode(stage: BinaryNode): void {
    if (!primary) return;
    const bundle = bytesOf(getBinaryNodeChild(stage, "link_code_pairing_wrapped_key_bundle")?.content);
    const shared = Curve.sharedKey(primary.ephemeral.private, primary.companion);
    const info = "link_code_pairing_key_bundle_encryption_key";
    const key = Buffer.from(hkdf(Buffer.from(shared), 32, { salt: bundle.subarray(0, 32), info }));
    const opened = aesDecryptGCM(bundle.subarray(44), key, bundle.subarray(32, 44), Buffer.alloc(0));
    const identityShared = Curve.sharedKey(primary.identity.private, opened.subarray(0, 32));
    const secret = Buffer.concat([shared, identityShared, opened.subarray(64, 96)]);
    succeed(Buffer.from(hkdf(secret, 32, { info: "adv_secret" })));
  }

  return {
    register(payload, noiseKey) {
      const given = payload.devicePairingData;
      world.linked = {
        noiseKey,
        bundle: {
          jid: world.jid,
          registrationId: numberOf(given?.eRegid),
          identity: given?.eIdent ?? Buffer.alloc(0),
          signedPreKey: {
            id: numberOf(given?.eSkeyId),
            key: given?.eSkeyVal ?? Buffer.alloc(0),
            signature: given?.eSkeySig ?? Buffer.alloc(0),
          },
          preKeys: [],
        },
      };
      for (const { device } of [world.owner, ...world.people]) device.forgetSessions();
      const refs = Array.from({ length: 6 }, (_, n) => ({ tag: "ref", attrs: {}, content: Buffer.from(`ref-${n}`) }));
      world.send({
        tag: "iq",
        attrs: { from: S_WHATSAPP_NET, type: "set", id: world.nextId(), xmlns: "md" },
        content: [{ tag: "pair-device", attrs: {}, content: refs }],
      });
    },
    scan(qr) {
      succeed(Buffer.from(qr.split("#").at(-1)?.split(",")[3] ?? "", "base64"));
    },
    async enterCode(code) {
      // A person types it later than the server was asked for it.
      if (!hello) await once(world, "codeAsked");
      if (!hello) throw new Error("no device has asked for a code");
      const companion = aesDecryptCTR(
        hello.subarray(48, 80),
        await derivePairingCodeKey(code, hello.subarray(0, 32)),
        hello.subarray(32, 48),
      );
      primary = { companion, ephemeral: Curve.generateKeyPair(), identity: Curve.generateKeyPair() };
      const salt = randomBytes(32);
      const iv = randomBytes(16);
      const key = await derivePairingCodeKey(code, salt);
      const wrapped = Buffer.concat([salt, iv, aesEncryptCTR(primary.ephemeral.public, key, iv)]);
      const stage = [
        { tag: "link_code_pairing_ref", attrs: {}, content: Buffer.from("ref") },
        { tag: "primary_identity_pub", attrs: {}, content: primary.identity.public },
        { tag: "link_code_pairing_wrapped_primary_ephemeral_pub", attrs: {}, content: wrapped },
      ];
      world.send({
        tag: "notification",
        attrs: { from: S_WHATSAPP_NET, type: "link_code_companion_reg", id: world.nextId(), t: seconds() },
        content: [{ tag: "link_code_companion_reg", attrs: { stage: "primary_hello" }, content: stage }],
      });
    },
    handle(node) {
      if (getBinaryNodeChild(node, "pair-device-sign")) {
        world.emit("paired");
        // As the real server does: the device is to connect again, as the one that it has become.
        setTimeout(() => {
          world.send({ tag: "stream:error", attrs: { code: "515" } });
          world.hangUp();
        }, 10);
        return true;
      }
      const stage = getBinaryNodeChild(node, "link_code_companion_reg");
      if (!stage) return false;
      const { id = "", to = S_WHATSAPP_NET } = node.attrs;
      const ref = { tag: "link_code_pairing_ref", attrs: {}, content: Buffer.from("ref") };
      const content =
        stage.attrs.stage === "companion_hello"
          ? [{ tag: "link_code_companion_reg", attrs: {}, content: [ref] }]
          : undefined;
      world.send({ tag: "iq", attrs: { from: to, type: "result", id }, ...(content ? { content } : {}) });
      if (stage.attrs.stage === "companion_hello") {
        hello = bytesOf(getBinaryNodeChild(stage, "link_code_pairing_wrapped_companion_ephemeral_pub")?.content);
        world.emit("codeAsked", stage.attrs.jid);
      } else setTimeout(() => finishCode(stage), 10);
      return true;
    },
  };
}

type KeyPair = ReturnType<typeof Curve.generateKeyPair>;

function numberOf(bytes: Uint8Array | null | undefined): number {
  const buffer = Buffer.from(bytes ?? []);
  return buffer.length === 0 ? 0 : buffer.readUIntBE(0, buffer.length);
}
