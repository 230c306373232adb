import type { Queue } from "bullmq";
import type { ConnectionOverrides } from "../agents/tools/index.js";
import type { ChannelAdapter, ChannelKind, ChannelLogger, ChannelStatus } from "../channels/index.js";
import type { ExportScope, FullReader, SignedBlock } from "../evidence/index.js";
import type { Approval, ApprovalQuestion, Rule } from "../ledger/index.js";
import type { DeliveryStore, ResponseDelivery } from "../outbound/index.js";
import type { RunDesk, TurnStore, UnsettledStore } from "../turns/index.js";

export interface ChannelListing extends ChannelStatus {
  readonly channel: ChannelKind;
  readonly name: string;
  readonly agent: string;
}

/** Where reviewers decide. */
export interface Approvals {
  list(state: "waiting" | "over", limit: number): Promise<readonly Approval[]>;
  read(id: string): Promise<Approval | undefined>;
  ask(question: ApprovalQuestion): Promise<Approval>;
  /** Undefined where it is not known. */
  decide(
    id: string,
    verdict: { readonly outcome: "approved" | "rejected"; readonly reviewer: string; readonly comment: string },
  ): Promise<{ readonly result: "decided" | "conflict"; readonly approval: Approval } | undefined>;
  /** Undefined where it is no app's question. */
  withdraw(id: string): Promise<Approval | undefined>;
}

export interface PolicyListing {
  /** Off: no rule has data. */
  readonly ledger: "on" | "off";
  readonly rules: readonly Rule[];
  /** Reason → how often, of each rule. */
  readonly counts: readonly Readonly<Record<string, number>>[];
}

export interface Readiness {
  readonly ready: boolean;
  /** Part → "ok", or what is wrong with it in a few words. */
  readonly parts: Readonly<Record<string, string>>;
}

/** Evidence to read, and to take elsewhere. */
export interface Evidence extends FullReader {
  /** JSONL, line by line, with the line feeds. */
  export(scope: ExportScope): AsyncIterable<string>;
  /** Removes what the archive tells of a person. @returns whether there was anything */
  erase(session: string): Promise<boolean>;
  head(): Promise<{
    readonly publicKey: string;
    readonly block?: Pick<SignedBlock, "number" | "at" | "hash" | "signature">;
  }>;
}

/** What the HTTP room asks of the rest. */
export interface HttpPorts {
  /** Bearer token of /v1, /queues, /mcp, /metrics and the console. Without one only loopback is served. */
  readonly token: string | undefined;
  readonly adapterOf: (channel: ChannelKind, name: string) => ChannelAdapter | undefined;
  readonly channels: () => Promise<readonly ChannelListing[]>;
  readonly agents: () => readonly { readonly name: string; readonly description: string }[];
  readonly workflows: () => readonly { readonly name: string; readonly description: string }[];
  readonly runs: RunDesk;
  readonly responses: ResponseDelivery;
  /** Seals per-run credentials away; the handle goes into the queue instead of them. */
  readonly seal: (connections: ConnectionOverrides) => Promise<string>;
  readonly turns: Pick<TurnStore, "read" | "recent" | "sessions" | "opaque" | "resolve">;
  readonly deliveries: Pick<DeliveryStore, "recent">;
  readonly evidence: Evidence;
  readonly unsettled: UnsettledStore;
  readonly approvals: Approvals;
  readonly policies: () => Promise<PolicyListing>;
  /** Links accounts with their phones, wherever they are owned. */
  readonly pairing: {
    pair(channel: ChannelKind, name: string, phone: string | undefined): Promise<{ readonly code?: string }>;
  };
  readonly queues: readonly Queue[];
  readonly readiness: () => Promise<Readiness>;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
  readonly logger: ChannelLogger;
  readonly now: () => number;
}
