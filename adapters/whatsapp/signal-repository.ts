import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import { isDeepStrictEqual } from "node:util";
import {
  DEFAULT_CONNECTION_CONFIG,
  isPnUser,
  type SignalAuthState,
  type SignalKeyStoreWithTransaction,
  type SocketConfig,
} from "@whiskeysockets/baileys";
import { Mutex } from "async-mutex";
import { DaleError } from "../../src/errors/index.js";
import type { Journal } from "./journal.js";

/**
 * Whoever holds it works on sessions: one for the whole process. libsignal puts what is done for one address into one
 * queue, whichever account does it, and works it off in the async context of whoever was first; there a transaction that
 * has ended would be taken for the one that is open. And what a connection that is cut has begun may end while the next
 * one is open.
 */
const mutex = new Mutex();

/** Resolves when all that has begun is done. */
export async function untilIdle(): Promise<void> {
  await mutex.runExclusive(() => undefined);
}

/**
 * Baileys' repository of Signal sessions, made so that no turn of a ratchet is forgotten or undone. A ratchet that turns
 * twice from the same place makes a message that the other side can't read. By itself Baileys (7.0.0-rc14) lets that
 * happen: it sends within the transaction that keeps the turn, so that a process that dies in between has sent what its
 * successor knows nothing of; and it locks a session under one name to encrypt and under another to decrypt, so that one
 * undoes what the other has written. Here each operation on sessions is a transaction of its own, apart from the one
 * that it is called in, after all others, and written when it resolves. And a message that is tried with all sessions of
 * its sender, one after the other, leaves those as they were that it does not belong to.
 * @param journal writes each message down in the transaction that turns the ratchet for it
 * @param over the connection has ended: what waits for its turn is refused, as nobody would be told of it any more
 */
export function signalRepositoryWith(
  journal: Pick<Journal, "keep">,
  over: AbortSignal,
): SocketConfig["makeSignalRepository"] {
  return (auth, logger, lookUp) => {
    const keys = transactional(auth);
    const apart = new AsyncResource("whatsapp-signal");
    const within = new AsyncLocalStorage<Work>();
    // Nobody is to wait for WhatsApp with the mutex in his hands: who somebody is, is asked before.
    const repository = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(auth, logger, async (people) =>
      within.getStore() ? undefined : lookUp?.(people),
    );
    const { lidMapping } = repository;

    function alone<T>(work: () => Promise<T>, kind: Work = "any"): Promise<T> {
      return apart.runInAsyncScope(() =>
        mutex.runExclusive(() => {
          if (over.aborted) throw new DaleError("channel_failed", "The connection to WhatsApp has ended.");
          return within.run(kind, () => keys.transaction(work, "signal-repository"));
        }),
      );
    }
    async function aloneWith<T>(jid: string, work: () => Promise<T>, kind?: Work): Promise<T> {
      if (isPnUser(jid)) await lidMapping.getLIDForPN(jid).catch(() => undefined);
      return alone(work, kind);
    }

    const { set } = keys;
    keys.set = async (data) => {
      if (!data.session) return set(data);
      const work = within.getStore();
      if (!work) return alone(async () => set(data));
      if (work !== "trying sessions") return set(data);
      const kept = await keys.get("session", Object.keys(data.session));
      const session: typeof data.session = Object.fromEntries(
        Object.entries(data.session).map(([address, record]) => [address, withoutTrials(kept[address], record)]),
      );
      return set({ ...data, session });
    };
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
        aloneWith(
          given.jid,
          async () => {
            const plain = await decryptMessage(given);
            await journal.keep(given.ciphertext, plain);
            return plain;
          },
          given.type === "msg" ? "trying sessions" : "any",
        ),
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

/** What is being done with the mutex held. A message that names no session is tried with all that there are. */
type Work = "any" | "trying sessions";

/** libsignal's record of all sessions with one address, as it is kept. */
interface SessionRecord {
  readonly _sessions: Readonly<Record<string, { readonly indexInfo: { readonly used?: number } }>>;
}

/**
 * libsignal tries the session that was used last first, and turns its ratchet before it knows whether the message belongs
 * to it. The last one that it has turned is the one whose message it was; the others are put back.
 */
function withoutTrials<T>(before: unknown, after: T): T {
  if (!isRecord(before) || !isRecord(after)) return after;
  const turned = Object.entries(before._sessions)
    .toSorted(([, one], [, other]) => (other.indexInfo.used || 0) - (one.indexInfo.used || 0))
    .filter(([name, session]) => !isDeepStrictEqual(session, after._sessions[name]));
  return { ...after, _sessions: { ...after._sessions, ...Object.fromEntries(turned.slice(0, -1)) } };
}

function isRecord(value: unknown): value is SessionRecord {
  return typeof value === "object" && value !== null && "_sessions" in value;
}

/** Baileys makes the store of keys transactional before it asks for a repository. */
function transactional({ keys }: SignalAuthState): SignalKeyStoreWithTransaction {
  if (!("transaction" in keys)) throw new TypeError("Baileys' store of keys knows no transactions.");
  return keys;
}
