import { z } from "zod";
import { digestId } from "../canonical/index.js";
import { DaleError } from "../errors/index.js";
import {
  type AppliedApproval,
  type Approval,
  type ApprovalQuestion,
  type ApprovalStore,
  appRequest,
} from "../ledger/index.js";
import type { OrderedQueue } from "../queue/index.js";
import type { ApprovalPlace, BegunApproval, TurnApprovals, TurnRequest } from "../turns/index.js";
import type { Logger } from "./logger.js";

/** Ms that a reviewer has for a call that a conversation parked. */
const parkedMs = 24 * 3_600_000;
const sweepEveryMs = 10_000;
const sweepAtOnce = 200;

/** The approvals of turns, on the store that all processes share. */
export function createTurnApprovals(store: ApprovalStore, now: () => number): TurnApprovals {
  return {
    async request(record, place) {
      for (const parked of record.parked ?? []) {
        const { consent, ...call } = parked;
        await store.request({
          version: 1,
          session: record.session,
          ...call,
          origin: {
            kind: "turn",
            turn: record.id,
            agent: record.agent,
            place: { address: { ...place.address }, group: place.group },
            ...(consent === undefined ? {} : { consent }),
          },
          requestedAt: record.finishedAt,
          expiresAt: record.finishedAt + parkedMs,
          current: { state: "waiting" },
        });
      }
    },
    begin: async (id, run) => begun(await store.apply(id, { type: "consume", run, at: now() })),
    async settle(id, run, result) {
      await store.apply(id, { type: "settle", run, result, at: now() });
    },
    abandon: async (id) => begun(await store.apply(id, { type: "abandon", at: now() })),
  };
}

function begun(applied: AppliedApproval | undefined): BegunApproval {
  if (applied === undefined) return { kind: "none" };
  const { outcome, approval } = applied;
  const { current } = approval;
  const call = decidedCall(approval);
  if (outcome === "run") return { kind: "run", call };
  switch (current.state) {
    case "executing":
      return { kind: "running" };
    case "settled":
      return { kind: "ended", call, result: current.result };
    case "rejected":
    case "expired":
      return { kind: current.state, call };
    default:
      return { kind: "none" };
  }
}

/** The call with everybody's yes to it. */
function decidedCall(approval: Approval) {
  const { id, agent, tool, args, fingerprint, shown, origin, current } = approval;
  const person = origin.kind === "turn" ? origin.consent : undefined;
  const reviewer = "decision" in current && current.state !== "rejected" ? current.decision : undefined;
  const consents = [
    ...(person === undefined ? [] : [{ by: "person" as const, ref: person.proposal, at: person.at }]),
    ...(reviewer === undefined ? [] : [{ by: "reviewer" as const, ref: id, at: reviewer.at }]),
  ];
  return { id, agent, tool, args, fingerprint, shown, consents };
}

export interface ApprovalRoomOptions {
  readonly store: ApprovalStore;
  readonly inbound: Pick<OrderedQueue<TurnRequest>, "add">;
  readonly count: (outcome: "approved" | "rejected" | "expired") => void;
  readonly logger: Logger;
  readonly now: () => number;
}

/** Where reviewers decide: the console and the API. */
export interface ApprovalRoom {
  list(state: "waiting" | "over", limit: number): Promise<readonly Approval[]>;
  read(id: string): Promise<Approval | undefined>;
  ask(question: ApprovalQuestion): Promise<Approval>;
  /** @returns `conflict`: it is decided already, or its time is over. Undefined where it is not known */
  decide(
    id: string,
    verdict: { readonly outcome: "approved" | "rejected"; readonly reviewer: string; readonly comment: string },
  ): Promise<{ readonly result: "decided" | "conflict"; readonly approval: Approval } | undefined>;
  /** An app's own question, which nobody waits for any more. Undefined where it is none. */
  withdraw(id: string): Promise<Approval | undefined>;
  /** Ends what nobody decided in time, and takes answers to their sessions that a process died over. @returns stops it */
  sweep(): () => void;
}

export function createApprovalRoom(options: ApprovalRoomOptions): ApprovalRoom {
  const { store, now, logger } = options;

  /** The answer becomes a turn of its session, in order with everything else there; once, by its id. */
  async function handOver(approval: Approval): Promise<void> {
    const { id, session, origin } = approval;
    if (origin.kind !== "turn") return;
    const { agent } = origin;
    const place = readPlace(origin.place);
    const data: TurnRequest = { version: 1, kind: "approval", approval: id, agent, session, place, receivedAt: now() };
    await options.inbound.add({ id: digestId("t-", "approval", id), key: session, data });
    await store.handedOver(id);
  }

  async function sweepOnce(): Promise<void> {
    for (const id of await store.due(now(), sweepAtOnce)) {
      const applied = await store.apply(id, { type: "expire", withdrawn: false, at: now() });
      if (applied?.outcome === "done") options.count("expired");
    }
    for (const id of await store.answered(sweepAtOnce)) {
      const approval = await store.read(id);
      if (approval === undefined) await store.handedOver(id);
      else await handOver(approval);
    }
  }

  return {
    list: (state, limit) => store.list(state, limit),
    read: (id) => store.read(id),
    async ask(question) {
      const approval = appRequest(question, now());
      await store.request(approval);
      return approval;
    },
    async decide(id, verdict) {
      const applied = await store.apply(id, { type: "decide", ...verdict, at: now() });
      if (applied === undefined) return undefined;
      const { outcome, approval } = applied;
      if (outcome === "done") options.count(verdict.outcome);
      // Decided is decided: if the queue cannot be reached now, the sweep takes the answer to its session.
      if (outcome === "done" || approval.current.state === "expired") {
        await handOver(approval).catch(() => logger.warn({ approval: id }, "a decision is handed over later"));
      }
      return { result: outcome === "done" ? "decided" : "conflict", approval };
    },
    async withdraw(id) {
      const known = await store.read(id);
      if (known?.origin.kind !== "app") return undefined;
      return (await store.apply(id, { type: "expire", withdrawn: true, at: now() }))?.approval;
    },
    sweep() {
      let sweeping = false;
      const sweep = async () => {
        if (sweeping) return;
        sweeping = true;
        await sweepOnce().catch((error: unknown) => logger.warn({ error }, "approvals could not be swept"));
        sweeping = false;
      };
      void sweep();
      const timer = setInterval(() => void sweep(), sweepEveryMs);
      timer.unref();
      return () => clearInterval(timer);
    },
  };
}

const placeShape = z.object({
  address: z.object({
    channel: z.enum(["telegram", "whatsapp", "whatsapp_cloud", "webchat", "api"]),
    account: z.string(),
    chat: z.string(),
    sender: z.string(),
  }),
  group: z.boolean(),
});

function readPlace(place: unknown): ApprovalPlace {
  const parsed = placeShape.safeParse(place);
  if (!parsed.success) throw new DaleError("store_version", "A kept approval names no place that this build knows.");
  return parsed.data;
}
