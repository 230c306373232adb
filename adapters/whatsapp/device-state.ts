import {
  type AuthenticationCreds,
  BufferJSON,
  initAuthCreds,
  proto,
  type SignalDataSet,
  type SignalDataTypeMap,
  type SignalKeyStore,
} from "@whiskeysockets/baileys";
import { DaleError } from "../../src/errors/index.js";
import { createFencedWriter, type FencedWriterOptions } from "./fenced-writer.js";
import type { Sealer } from "./sealing.js";

/**
 * What the linked device is: its credentials and Signal's keys, as the holder of the account's lease sees them. It is
 * to be opened after the lease was acquired: what was read before is stale, and a ratchet that turns twice from the
 * same place makes messages that nobody can read.
 */
export interface DeviceState {
  /** What Baileys works on, and changes in place. New ones as long as no phone has linked this device. */
  readonly creds: AuthenticationCreds;
  /** Each `set` is written at once and whole, or not at all. Nothing is cached: what was not written was never there. */
  readonly keys: SignalKeyStore;
  /** Whether a phone has linked this device. */
  readonly linked: boolean;
  /** Why and when the link before this one ended, for people. */
  readonly ended: Ending | undefined;
  /** Writes the credentials down, now or with the next write. They are kept only once a phone has linked the device. */
  save(): void;
  /** Resolves when all that was to be saved is written. Rejects when it could not be. */
  flush(): Promise<void>;
  /** Another pair of credentials, for another try to be linked. */
  renew(): void;
  /** The link is over: what belonged to it is put aside, and the device begins anew. */
  archive(ending: Ending): Promise<void>;
}

export interface Ending {
  readonly reason: string;
  /** Ms since 1970. */
  readonly at: number;
}

export interface DeviceStateOptions extends FencedWriterOptions {
  readonly sealer: Sealer;
}

/** Which set of credentials and keys is in use. Earlier ones are put aside under their number. */
interface DeviceRecord {
  readonly version: 1;
  readonly generation: number;
  readonly ended?: Ending;
}

const recordKey = "device";
/** Entries of one write; each is a few hundred bytes. */
const chunk = 500;

/**
 * @throws DaleError `store_unavailable`, `secrets_unreadable` when no configured key opens it, `store_version` for a
 * shape that this build does not know, `lease_lost`
 */
export async function openDeviceState(options: DeviceStateOptions): Promise<DeviceState> {
  const { fenced, sealer } = options;

  const writer = createFencedWriter(options);
  const write = writer.once;
  const seal = (key: string, value: unknown) =>
    sealer.seal(key, JSON.stringify({ version: 1, value }, BufferJSON.replacer));
  const open = (key: string, kept: string | undefined): unknown =>
    kept === undefined ? undefined : parse(sealer.open(key, kept));

  const [keptRecord] = await fenced.read([recordKey]);
  let record: DeviceRecord = (open(recordKey, keptRecord) as DeviceRecord | undefined) ?? { version: 1, generation: 1 };
  const name = (rest: string) => `g${record.generation}:${rest}`;
  const [keptCreds] = await fenced.read([name("creds")]);
  let creds = (open(name("creds"), keptCreds) as AuthenticationCreds | undefined) ?? initAuthCreds();
  if (keptRecord === undefined || !sealer.isCurrent(keptRecord)) await resealAll();

  /** After a change of keys: everything under the first one, so that the others can go. The record tells when it is done. */
  async function resealAll(): Promise<void> {
    const keys = (await fenced.keys("")).filter((key) => key !== recordKey);
    for (let from = 0; from < keys.length; from += chunk) {
      const some = keys.slice(from, from + chunk);
      const values = await fenced.read(some);
      const changed: Record<string, string> = {};
      for (const [index, key] of some.entries()) {
        const kept = values[index];
        if (kept !== undefined && !sealer.isCurrent(kept)) changed[key] = sealer.seal(key, sealer.open(key, kept));
      }
      if (Object.keys(changed).length > 0) await write(changed);
    }
    await write({ [recordKey]: seal(recordKey, record) });
  }

  const keys: SignalKeyStore = {
    async get<T extends keyof SignalDataTypeMap>(type: T, ids: string[]) {
      const names = ids.map((id) => name(`${type}:${id}`));
      const values = await fenced.read(names);
      const found: { [id: string]: SignalDataTypeMap[T] } = {};
      for (const [index, id] of ids.entries()) {
        const value = revive(type, open(names[index] ?? "", values[index]));
        if (value !== undefined && value !== null) found[id] = value as SignalDataTypeMap[T];
      }
      return found;
    },
    async set(data: SignalDataSet) {
      const entries: Record<string, string | null> = {};
      for (const [type, values] of Object.entries(data)) {
        for (const [id, value] of Object.entries(values ?? {})) {
          const key = name(`${type}:${id}`);
          entries[key] = value === null || value === undefined ? null : seal(key, value);
        }
      }
      // Baileys would try again whatever the reason, with everybody waiting: it asks for this once.
      await writer.patiently(entries);
    },
  };

  let writing: Promise<void> | undefined;
  let dirty = false;
  const linked = () => creds.account !== undefined && creds.me !== undefined;
  /** One write at a time; what changed meanwhile goes with the next. */
  async function writeCreds(): Promise<void> {
    while (dirty) {
      dirty = false;
      try {
        if (linked()) await write({ [name("creds")]: seal(name("creds"), creds) });
      } catch (error) {
        dirty = true;
        throw error;
      }
    }
  }
  function flush(): Promise<void> {
    writing ??= writeCreds().finally(() => {
      writing = undefined;
    });
    return writing;
  }

  return {
    get creds() {
      return creds;
    },
    keys,
    get linked() {
      return linked();
    },
    get ended() {
      return record.ended;
    },
    save() {
      dirty = true;
      flush().catch(() => undefined);
    },
    flush,
    renew() {
      creds = initAuthCreds();
    },
    async archive(ending) {
      await flush().catch(() => undefined);
      const old = record.generation - 1;
      const next: DeviceRecord = { version: 1, generation: record.generation + 1, ended: ending };
      await write({ [recordKey]: seal(recordKey, next) });
      record = next;
      creds = initAuthCreds();
      dirty = false;
      await forget(old);
    },
  };

  /** One link that ended is kept, should the end have been a mistake; those before it are not. */
  async function forget(generation: number): Promise<void> {
    const stale = await fenced.keys(`g${generation}:`);
    for (let from = 0; from < stale.length; from += chunk) {
      await write(Object.fromEntries(stale.slice(from, from + chunk).map((key) => [key, null])));
    }
  }
}

function parse(text: string): unknown {
  const kept = JSON.parse(text, BufferJSON.reviver) as { version?: unknown; value?: unknown };
  if (kept.version === 1) return kept.value;
  throw new DaleError(
    "store_version",
    "The linked WhatsApp device's state has a version that this build does not know.",
  );
}

/** Baileys expects this one as an object of its protocol, not as plain data. */
function revive(type: keyof SignalDataTypeMap, value: unknown): unknown {
  if (type !== "app-state-sync-key" || typeof value !== "object" || value === null) return value;
  return proto.Message.AppStateSyncKeyData.fromObject(value);
}
