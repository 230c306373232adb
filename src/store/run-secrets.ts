import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { JsonValue } from "../canonical/index.js";
import { DaleError } from "../errors/index.js";
import { reachingRedis, type Shard } from "./script.js";

export interface RunSecretsOptions extends Shard {
  /** 32 bytes. It is never kept in Redis: whoever has only Redis cannot read anything. */
  readonly key: Uint8Array;
  /** Ms for which secrets wait for their run. Default 15 minutes. */
  readonly ttlMs?: number;
}

/** Credentials that a caller handed over for one run, while that run waits in the queue. */
export interface RunSecrets {
  /** @returns a handle that tells nothing; it may stand in the queue */
  put(turn: string, value: JsonValue): Promise<string>;
  /**
   * Reads them; a retried run reads them again. Undefined when their time is over or they were taken.
   * @throws DaleError `secrets_unreadable` when they were sealed with another key, or altered
   */
  read(handle: string): Promise<JsonValue | undefined>;
  /** Reads and deletes them: at the turn's end. */
  take(handle: string): Promise<JsonValue | undefined>;
}

const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;
/** The first byte of what is kept. */
const sealVersion = 1;

/** Sealed with AES-256-GCM, bound to their handle and turn, gone after a quarter of an hour. */
export function createRunSecrets(options: RunSecretsOptions): RunSecrets {
  const { redis, prefix } = options;
  const ttlMs = options.ttlMs ?? 15 * 60_000;
  const key = Buffer.from(options.key);
  if (key.length !== keyBytes) {
    throw new DaleError("config_invalid", "The key that seals secrets has to be 32 bytes.");
  }
  const secretKey = (handle: string) => `${prefix}:secret:${handle}`;

  function seal(handle: string, value: JsonValue): Buffer {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(handle));
    const sealed = Buffer.concat([cipher.update(JSON.stringify(value), "utf8"), cipher.final()]);
    return Buffer.concat([Buffer.from([sealVersion]), iv, cipher.getAuthTag(), sealed]);
  }

  function open(handle: string, kept: Buffer | null): JsonValue | undefined {
    if (kept === null) return undefined;
    if (kept[0] !== sealVersion) {
      throw new DaleError("store_version", "Kept secrets have a version that this build does not know.");
    }
    const iv = kept.subarray(1, 1 + ivBytes);
    const tag = kept.subarray(1 + ivBytes, 1 + ivBytes + tagBytes);
    const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: tagBytes });
    try {
      decipher.setAAD(Buffer.from(handle)).setAuthTag(tag);
      const sealed = kept.subarray(1 + ivBytes + tagBytes);
      return JSON.parse(Buffer.concat([decipher.update(sealed), decipher.final()]).toString("utf8"));
    } catch (error) {
      throw new DaleError("secrets_unreadable", "Kept secrets were sealed with another key, or altered.", {
        cause: error,
      });
    }
  }

  return {
    async put(turn, value) {
      const handle = `${turn}.${randomBytes(16).toString("base64url")}`;
      await reachingRedis("keeping secrets", () => redis.set(secretKey(handle), seal(handle, value), "PX", ttlMs));
      return handle;
    },
    async read(handle) {
      return open(handle, await reachingRedis("reading secrets", () => redis.getBuffer(secretKey(handle))));
    },
    async take(handle) {
      return open(handle, await reachingRedis("taking secrets", () => redis.getdelBuffer(secretKey(handle))));
    },
  };
}
