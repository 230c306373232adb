import type { Confirmation } from "./confirmation.js";
import { mostOfSession } from "./context.js";
import { type Candidate, type LedgerStore, newestOfTool } from "./store.js";

/** Scopes that are remembered; the one that was written longest ago goes. */
const mostScopes = 1000;
/** Refs that are remembered as used, whatever scope used them; the oldest go. */
const mostRefs = 100_000;

interface Kept {
  /** Newest first. */
  readonly confirmations: readonly Confirmation[];
  readonly used: ReadonlySet<string>;
}

/** For one process. */
export function createMemoryLedgerStore(): LedgerStore {
  const scopes = new Map<string, Kept>();
  const spent = new Set<string>();

  function write(scope: string, kept: Kept): void {
    scopes.delete(scope);
    scopes.set(scope, kept);
    if (scopes.size > mostScopes) scopes.delete(scopes.keys().next().value ?? "");
  }

  function isUsed(scope: string, each: { readonly id?: string; readonly ref?: string }): boolean {
    const { id, ref } = each;
    return (id !== undefined && (scopes.get(scope)?.used.has(id) ?? false)) || (ref !== undefined && spent.has(ref));
  }

  return {
    async record(scope, confirmation) {
      const { confirmations, used } = scopes.get(scope) ?? { confirmations: [], used: new Set() };
      const kept = [confirmation, ...confirmations].slice(0, mostOfSession);
      const ids = new Set(kept.map(({ id }) => id));
      write(scope, { confirmations: kept, used: new Set([...used].filter((id) => ids.has(id))) });
    },
    async find(query) {
      const found = newestOfTool(scopes.get(query.scope)?.confirmations ?? [], query);
      return found.map((each): Candidate => ({ ...each, used: isUsed(query.scope, each) }));
    },
    async use(scope, uses) {
      const kept = scopes.get(scope);
      const isGone = (id: string | undefined) =>
        id !== undefined && !kept?.confirmations.some((confirmation) => confirmation.id === id);
      if (uses.some((each) => isGone(each.id) || isUsed(scope, each))) return false;
      if (kept) {
        const used = new Set(kept.used);
        for (const { id } of uses) if (id !== undefined) used.add(id);
        scopes.set(scope, { ...kept, used });
      }
      for (const { ref } of uses) if (ref !== undefined) spent.add(ref);
      for (const ref of spent) {
        if (spent.size <= mostRefs) break;
        spent.delete(ref);
      }
      return true;
    },
    async close() {
      scopes.clear();
      spent.clear();
    },
  };
}
