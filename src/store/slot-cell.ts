import { DaleError } from "../errors/index.js";
import type { EvidenceEntry } from "../evidence/index.js";
import { type OutcomeOf, reduce, type Slot, type SlotEvent, type SlotStore, type Surroundings } from "../gate/index.js";
import type { UnsettledExecution } from "../turns/index.js";

/** A slot as it was read: `revision` changes with every write. */
export interface SeenSlot {
  readonly revision: string;
  readonly slot: Slot;
}

/** All that one transition writes, in one step. */
export interface SlotChange {
  readonly slot: Slot;
  readonly evidence: readonly EvidenceEntry[];
  /** Executions whose end nobody saw, to be listed for the operator. */
  readonly unsettled: readonly UnsettledExecution[];
  /** Proposals whose end is known now, to be taken off that list. */
  readonly settled: readonly string[];
  /** Ms since 1970. */
  readonly at: number;
}

/** What an implementation of SlotStore adds to the loop below: a place with compare-and-set. */
export interface SlotCell {
  read(session: string, chat: string | undefined): Promise<SeenSlot & { readonly surroundings: Surroundings }>;
  /** @returns false, and nothing written, when the slot is no longer at `revision` */
  swap(session: string, revision: string, change: SlotChange): Promise<boolean>;
}

export interface SlotLoopOptions {
  readonly cell: SlotCell;
  /** Ids of evidence entries: never the same twice. */
  readonly newId: () => string;
}

/** So often in a row somebody else may be faster before we give up. */
const mostTries = 200;

/**
 * The loop that every SlotStore is: read, let the gate decide, write if nobody was faster, else again. An event that
 * changes nothing costs one read, any other one read and one write.
 */
export function createSlotLoop(options: SlotLoopOptions): SlotStore {
  const { cell, newId } = options;
  return {
    async apply<Type extends SlotEvent["type"]>(
      session: string,
      event: Extract<SlotEvent, { type: Type }>,
      chat?: string,
    ): Promise<OutcomeOf[Type]> {
      for (let tries = 0; tries < mostTries; tries++) {
        const { slot, revision, surroundings } = await cell.read(session, chat);
        const transition = reduce(slot, event, surroundings);
        if (transition.slot === slot && transition.evidence.length === 0) return transition.outcome;
        const evidence = transition.evidence.map((draft) => ({ ...draft, id: newId(), session }));
        const change = { slot: transition.slot, evidence, ...settling(slot, evidence), at: timeOf(event) };
        if (await cell.swap(session, revision, change)) return transition.outcome;
      }
      throw new DaleError("store_unavailable", "Too many others change this session's slot.");
    },
    async read(session) {
      return (await cell.read(session, undefined)).slot;
    },
  };
}

function timeOf(event: SlotEvent): number {
  return event.type === "propose" ? event.proposal.proposedAt : event.at;
}

/** What the evidence of a transition means for the list of unsettled executions. */
function settling(
  before: Slot,
  evidence: readonly EvidenceEntry[],
): { readonly unsettled: readonly UnsettledExecution[]; readonly settled: readonly string[] } {
  const unsettled: UnsettledExecution[] = [];
  const settled: string[] = [];
  for (const entry of evidence) {
    if (["executed", "failed", "parked"].includes(entry.type)) settled.push(entry.proposal);
    if (entry.type !== "unknown") continue;
    const { current, executed, lost } = before;
    const running = current.state === "executing" && current.proposal.id === entry.proposal ? current : undefined;
    const proposal = [running, executed, lost].find((each) => each?.proposal.id === entry.proposal)?.proposal;
    unsettled.push({
      proposal: entry.proposal,
      session: entry.session,
      agent: entry.agent,
      tool: entry.tool,
      argsHash: entry.argsHash,
      notice: proposal?.notice ?? "",
      since: running?.since ?? entry.at,
    });
  }
  return { unsettled, settled };
}
