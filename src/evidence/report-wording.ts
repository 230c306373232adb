import { en } from "./report-wording-en.js";
import { es } from "./report-wording-es.js";

type Words<Names extends string> = Readonly<Record<Names, string>>;

/** The words of a report. */
export interface ReportWording {
  readonly language: string;
  readonly title: string;
  readonly approvalTitle: string;
  /** What became of it. */
  readonly summary: {
    /** Of a proposal that the person was to confirm. */
    readonly consent: Words<"executed" | "failed" | "unknown" | "parked" | "none">;
    /** Of a call that a conversation parked for a reviewer. */
    readonly approval: Words<"executed" | "failed" | "unknown" | "granted" | "discarded" | "expired" | "waiting">;
    /** Of an application's own question: what it does with the answer is not seen here. */
    readonly app: Words<"granted" | "discarded" | "expired" | "waiting">;
    readonly erased: string;
  };
  readonly proposal: string;
  readonly person: string;
  /** Instead of the person, of an application's own question. */
  readonly session: string;
  readonly agent: string;
  readonly call: string;
  readonly arguments: string;
  readonly noArguments: string;
  readonly notice: string;
  readonly noticeNote: string;
  /** Of an approval, instead of the notice. */
  readonly shows: string;
  readonly showsNote: string;
  /** Of a proposal that waits for an approval as well. */
  readonly awaited: Words<"title" | "approval" | "outcome" | "page" | "none">;
  readonly story: string;
  readonly when: string;
  readonly what: string;
  readonly details: string;
  readonly timesNote: string;
  readonly proof: string;
  readonly proofNote: string;
  readonly whole: string;
  readonly broken: string;
  readonly installation: string;
  readonly chain: string;
  readonly block: string;
  readonly signature: string;
  readonly key: string;
  readonly made: string;
  /** By type, and for approvals by `approval_<type>`. */
  readonly steps: Readonly<Record<string, string>>;
  readonly delivery: Readonly<Record<string, string>>;
  readonly reasons: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
}

export const reportWordings = { es, en } as const;
export type ReportLanguage = keyof typeof reportWordings;
