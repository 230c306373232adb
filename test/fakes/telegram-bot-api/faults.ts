/** What the server does to one call instead of, or after, serving it. */
export type Fault =
  /** Answers with an error of the Bot API, having done nothing. */
  | {
      readonly kind: "error";
      readonly code: number;
      readonly description: string;
      readonly parameters?: { readonly retry_after?: number; readonly migrate_to_chat_id?: number };
    }
  /** Answers something that is no JSON, as a proxy in front of the server does. */
  | { readonly kind: "garbage"; readonly status: number; readonly body: string; readonly taken: boolean }
  /** Never answers; `taken`: the call was executed. */
  | { readonly kind: "hang"; readonly taken: boolean }
  /** Cuts the connection; `taken`: after the call was executed. */
  | { readonly kind: "reset"; readonly taken: boolean };

/** Faults that wait for calls of a method, in the order in which they were scripted. */
export interface FaultScript {
  /** @param times how many calls it happens to; default 1 */
  add(method: string, fault: Fault, times?: number): void;
  /** The fault of this call, which is then used up. */
  take(method: string): Fault | undefined;
  clear(): void;
}

export function createFaultScript(): FaultScript {
  const waiting = new Map<string, Fault[]>();
  return {
    add(method, fault, times = 1) {
      const key = method.toLowerCase();
      const faults = waiting.get(key) ?? [];
      for (let n = 0; n < times; n++) faults.push(fault);
      waiting.set(key, faults);
    },
    take: (method) => waiting.get(method.toLowerCase())?.shift(),
    clear: () => waiting.clear(),
  };
}

export const faults = {
  tooManyRequests: (retryAfter: number): Fault => ({
    kind: "error",
    code: 429,
    description: `Too Many Requests: retry after ${retryAfter}`,
    parameters: { retry_after: retryAfter },
  }),
  blocked: {
    kind: "error",
    code: 403,
    description: "Forbidden: bot was blocked by the user",
  },
  internal: { kind: "error", code: 500, description: "Internal Server Error" },
  badGateway: { kind: "garbage", status: 502, body: "<html><h1>502 Bad Gateway</h1></html>", taken: false },
} as const satisfies Record<string, Fault | ((retryAfter: number) => Fault)>;
