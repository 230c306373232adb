/** What the server does to one call instead of, or after, serving it. */
export type Fault =
  /** Answers with an error of the Graph API, having done nothing. */
  | {
      readonly kind: "error";
      /** HTTP. */
      readonly status: number;
      readonly code: number;
      readonly subcode?: number;
      readonly details?: string;
      readonly retryAfter?: number;
    }
  /** Answers something that is no JSON, as a proxy in front of the server does. */
  | { readonly kind: "garbage"; readonly status: number; readonly body: string; readonly taken: boolean }
  /** Never answers; `taken`: the call was executed. */
  | { readonly kind: "hang"; readonly taken: boolean }
  /** Cuts the connection; `taken`: after the call was executed. */
  | { readonly kind: "reset"; readonly taken: boolean };

/** Faults that wait for calls of one kind, in the order in which they were scripted. */
export interface FaultScript {
  /** @param times how many calls it happens to; default 1 */
  add(kind: CallKind, fault: Fault, times?: number): void;
  /** The fault of this call, which is then used up. */
  take(kind: CallKind): Fault | undefined;
}

/** `send` and `read` are both POST /messages; `media` names a file's URL, `file` is at that URL. */
export type CallKind = "send" | "read" | "number" | "media" | "file";

export function createFaultScript(): FaultScript {
  const waiting = new Map<CallKind, Fault[]>();
  return {
    add(kind, fault, times = 1) {
      const faults = waiting.get(kind) ?? [];
      for (let n = 0; n < times; n++) faults.push(fault);
      waiting.set(kind, faults);
    },
    take: (kind) => waiting.get(kind)?.shift(),
  };
}

/** Meta's own, with the HTTP status that each comes with. */
export const faults = {
  windowClosed: { kind: "error", status: 400, code: 131047, details: "More than 24 hours have passed" },
  pairLimit: { kind: "error", status: 400, code: 131056, details: "(Business, consumer) pair rate limit hit" },
  throughput: { kind: "error", status: 400, code: 130429, details: "Rate limit hit" },
  undeliverable: { kind: "error", status: 400, code: 131026, details: "Message undeliverable" },
  noUserId: { kind: "error", status: 400, code: 131062, details: "BSUID recipients are not supported" },
  tokenExpired: { kind: "error", status: 401, code: 190, subcode: 463, details: "Session has expired" },
  internal: { kind: "error", status: 500, code: 131000, details: "Something went wrong" },
  badGateway: { kind: "garbage", status: 502, body: "<html><h1>502 Bad Gateway</h1></html>", taken: false },
} as const satisfies Record<string, Fault>;
