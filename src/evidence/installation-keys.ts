import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  randomBytes,
  sign,
} from "node:crypto";

/** What one secret of the installation is good for. Whoever has it can read and continue the evidence; nobody else can. */
export interface InstallationKeys {
  /** Ed25519, SPKI, PEM: what verification needs, and all that it needs. */
  readonly publicKey: string;
  sign(hash: Uint8Array): Uint8Array;
  /** Under what a session is looked up: the archive's tables name no people. */
  lookup(session: string): Uint8Array;
  /** Encrypts the data key of a chain. */
  wrap(chain: string, dataKey: Uint8Array): Uint8Array;
  /** @returns undefined when it was wrapped by another installation, for another chain, or altered */
  unwrap(chain: string, wrapped: Uint8Array): Uint8Array | undefined;
}

export const secretBytes = 32;
const ivBytes = 12;
const tagBytes = 16;
/** DER of an Ed25519 private key in PKCS #8, up to its 32 bytes (RFC 8410). */
const pkcs8Start = Buffer.from("302e020100300506032b657004220420", "hex");

/** @param secret 32 random bytes */
export function createInstallationKeys(secret: Uint8Array): InstallationKeys {
  const derive = (use: string) => Buffer.from(hkdfSync("sha256", secret, "", `dale evidence ${use}`, secretBytes));
  const wrapping = derive("wrapping");
  const looking = derive("lookup");
  const signing = createPrivateKey({
    key: Buffer.concat([pkcs8Start, derive("signing")]),
    format: "der",
    type: "pkcs8",
  });
  return {
    publicKey: createPublicKey(signing).export({ format: "pem", type: "spki" }).toString(),
    sign: (hash) => sign(null, hash, signing),
    lookup: (session) => createHmac("sha256", looking).update(session).digest(),
    wrap(chain, dataKey) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv("aes-256-gcm", wrapping, iv).setAAD(Buffer.from(chain));
      return Buffer.concat([iv, cipher.update(dataKey), cipher.final(), cipher.getAuthTag()]);
    },
    unwrap(chain, wrapped) {
      try {
        const decipher = createDecipheriv("aes-256-gcm", wrapping, wrapped.subarray(0, ivBytes));
        decipher.setAAD(Buffer.from(chain)).setAuthTag(wrapped.subarray(-tagBytes));
        return Buffer.concat([decipher.update(wrapped.subarray(ivBytes, -tagBytes)), decipher.final()]);
      } catch {
        return undefined;
      }
    },
  };
}
