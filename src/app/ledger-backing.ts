import { DaleError } from "../errors/index.js";
import { type ApprovalDesk, createStoreDesk, type LedgerStore } from "../ledger/index.js";

/** The ledger's ports in a Redis that is connected to at the first use. */
export interface LedgerBacking {
  readonly store: LedgerStore;
  readonly approvals: ApprovalDesk;
  close(): Promise<void>;
}

interface Connected {
  readonly store: LedgerStore;
  readonly approvals: ApprovalDesk;
  close(): Promise<void>;
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };
/** How long the first use waits for Redis, ms. */
const patienceMs = 3000;

export function createLedgerBacking(
  address: { readonly url: string; readonly prefix?: string },
  now: () => number,
): LedgerBacking {
  let connecting: Promise<Connected> | undefined;
  let closed = false;

  async function connect(): Promise<Connected> {
    const { createApprovalStore, createConnections, createRedisLedgerStore, shardPrefix } = await import(
      "../store/index.js"
    );
    const connections = createConnections({ address: { url: address.url }, logger: silent });
    try {
      await connections.ready(patienceMs);
    } catch (error) {
      await connections.close();
      throw error;
    }
    const shard = { redis: connections.prompt, prefix: address.prefix ?? shardPrefix() };
    return {
      store: createRedisLedgerStore(shard),
      approvals: createStoreDesk(createApprovalStore(shard), now),
      close: () => connections.close(),
    };
  }

  async function connected(): Promise<Connected> {
    if (closed) throw new DaleError("store_unavailable", "This ledger is closed.");
    connecting ??= connect();
    try {
      return await connecting;
    } catch (error) {
      connecting = undefined;
      throw new DaleError("store_unavailable", "The ledger's Redis does not answer, or is not fit for it.", {
        cause: error,
      });
    }
  }

  return {
    store: {
      record: async (...given) => (await connected()).store.record(...given),
      find: async (...given) => (await connected()).store.find(...given),
      use: async (...given) => (await connected()).store.use(...given),
      async close() {},
    },
    approvals: {
      ask: async (...given) => (await connected()).approvals.ask(...given),
      read: async (...given) => (await connected()).approvals.read(...given),
      withdraw: async (...given) => (await connected()).approvals.withdraw(...given),
    },
    async close() {
      closed = true;
      const open = await connecting?.catch(() => undefined);
      await open?.close();
    },
  };
}
