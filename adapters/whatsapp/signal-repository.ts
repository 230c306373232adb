import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import {
  DEFAULT_CONNECTION_CONFIG,
  isPnUser,
  type SignalAuthState,
  type SignalKeyStoreWithTransaction,
  type SocketConfig,
} from "@whiskeysockets/baileys";
import type { Mutex } from "async-mutex";
import type { Journal } from "./journal.js";

export interface SignalRepositoryOptions {
  /** Each message is written down in the transaction that turns the ratchet for it. */
  readonly journal: Pick<Journal, "keep">;
  /** One for all connections of a device: what an earlier one began may end while the next one is open. */
  readonly mutex: Mutex;
}

/**
 * Baileys' repository of Signal sessions, made so that no turn of a ratchet is forgotten or undone. A ratchet that turns
 * twice from the same place makes a message that the other side can't read. By itself Baileys (7.0.0-rc14) lets that
 * happen twice over: it sends within the transaction that keeps the turn, so that a process that dies in between has
 * sent what its successor knows nothing of; and it locks a session under one name to encrypt and under another to
 * decrypt, so that one undoes what the other has written. Here each operation on sessions is a transaction of its own,
 * apart from the one that it is called in, after all others, and written when it resolves.
 */
export function signalRepositoryWith(options: SignalRepositoryOptions): SocketConfig["makeSignalRepository"] {
  const { journal, mutex } = options;
  return (auth, logger, lookUp) => {
    const keys = transactional(auth);
    const apart = new AsyncResource("whatsapp-signal");
    const within = new AsyncLocalStorage<true>();
    // Nobody is to wait for WhatsApp with the mutex in his hands: who somebody is, is asked before.
    const repository = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(auth, logger, async (people) =>
      within.getStore() ? undefined : lookUp?.(people),
    );
    const { lidMapping } = repository;

    function alone<T>(work: () => Promise<T>): Promise<T> {
      return apart.runInAsyncScope(() =>
        mutex.runExclusive(() => within.run(true, () => keys.transaction(work, "signal-repository"))),
      );
    }
    async function aloneWith<T>(jid: string, work: () => Promise<T>): Promise<T> {
      if (isPnUser(jid)) await lidMapping.getLIDForPN(jid).catch(() => undefined);
      return alone(work);
    }

    const { set } = keys;
    keys.set = (data) => (data.session && !within.getStore() ? alone(async () => set(data)) : set(data));
    const store = lidMapping.storeLIDPNMappings.bind(lidMapping);
    lidMapping.storeLIDPNMappings = (pairs) => apart.runInAsyncScope(() => store(pairs));

    const {
      decryptMessage,
      decryptGroupMessage,
      encryptMessage,
      encryptGroupMessage,
      getSenderKeyDistributionMessage,
      processSenderKeyDistributionMessage,
      hasSenderKey,
      injectE2ESession,
      validateSession,
      getSessionInfo,
      migrateSession,
      deleteSession,
    } = repository;
    return Object.assign(repository, {
      decryptMessage: (given) =>
        aloneWith(given.jid, async () => {
          const plain = await decryptMessage(given);
          await journal.keep(given.ciphertext, plain);
          return plain;
        }),
      decryptGroupMessage: (given) =>
        alone(async () => {
          const plain = await decryptGroupMessage(given);
          await journal.keep(given.msg, plain);
          return plain;
        }),
      encryptMessage: (given) => aloneWith(given.jid, () => encryptMessage(given)),
      encryptGroupMessage: (given) => alone(() => encryptGroupMessage(given)),
      getSenderKeyDistributionMessage: (given) => alone(() => getSenderKeyDistributionMessage(given)),
      processSenderKeyDistributionMessage: (given) => alone(() => processSenderKeyDistributionMessage(given)),
      hasSenderKey: (given) => alone(() => hasSenderKey(given)),
      injectE2ESession: (given) => aloneWith(given.jid, () => injectE2ESession(given)),
      validateSession: (jid) => aloneWith(jid, () => validateSession(jid)),
      getSessionInfo: (jid) => aloneWith(jid, () => getSessionInfo(jid)),
      migrateSession: (from, to) => alone(() => migrateSession(from, to)),
      deleteSession: (jids) => alone(() => deleteSession(jids)),
    } satisfies Partial<typeof repository>);
  };
}

/** Baileys makes the store of keys transactional before it asks for a repository. */
function transactional({ keys }: SignalAuthState): SignalKeyStoreWithTransaction {
  if (!("transaction" in keys)) throw new TypeError("Baileys' store of keys knows no transactions.");
  return keys;
}
