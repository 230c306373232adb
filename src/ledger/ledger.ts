import { randomUUID } from "node:crypto";
import { canonicalize, checkJson, fingerprint } from "../canonical/index.js";
import { DaleError } from "../errors/index.js";
import { type ApprovalDecision, type ApprovalDesk, ApprovalRejectedError } from "./approval.js";
import { type AwaitApprovalOptions, readApprovalOptions, readShown, type ShownCall } from "./approval-request.js";
import { readArgs } from "./arguments.js";
import { awaitAnswer } from "./await-approval.js";
import { bindTo } from "./binding.js";
import {
  type Confirmation,
  type ConfirmationInput,
  type ReadConfirmation,
  readConfirmation,
  readToolName,
} from "./confirmation.js";
import { type LedgerContext, runInContext, type Scope, surroundings, writeScope } from "./context.js";
import { hashOf, schemeFor } from "./hashing.js";
import { unknownKey } from "./options.js";
import type { CheckedToolCall } from "./policies/evaluate.js";
import { recordSpan } from "./span.js";
import type { LedgerStore } from "./store.js";

/** What became of a confirmation. `recorded` says whether its span was recorded. */
export interface Recorded {
  readonly recorded: boolean;
  readonly reason?: /** Not recorded: something of the input is not as it has to be. */
    | "invalid_input"
    /** Not recorded: it has a key that is no option. A misspelt one is not taken for one that was left out. */
    | "unknown_option"
    /** Not recorded: no ledger was created, or it is closed. */
    | "no_client"
    /** Not kept: there is no session and no trace to tie it to. */
    | "no_context"
    /** Not kept: `DALE_CONFIRMATION_LEDGER=off`. */
    | "ledger_off"
    /**
     * Kept, tied to the tool alone: the arguments are none that JSON can hold. With `bindFields`: one of those fields is
     * not there, or is none that JSON can hold; it matches nothing.
     */
    | "unhashable_args"
    /** Perhaps not kept: the store could not be reached. */
    | "store_unavailable";
}

export interface ToolCallToCheck {
  readonly toolName: string;
  readonly args?: unknown;
}

/** A ledger's own part; `Ledger` adds the rules to it. */
export interface LedgerCore {
  /** Records that somebody was asked about a call. Never throws, and never rejects, whatever it is handed. */
  confirmToolCall(input: ConfirmationInput): Promise<Recorded>;
  /** Runs `fn` with a session (or a trace) whose confirmations these are. @returns what `fn` returns */
  withContext<T>(context: LedgerContext, fn: () => T): T;
  /** The hash that a confirmation with these arguments is kept by; undefined for what cannot be hashed. */
  confirmationArgsHash(args: unknown): string | undefined;
  /**
   * Asks a reviewer, and waits.
   * @throws ApprovalRejectedError, ApprovalTimeoutError; DaleError `approval_unavailable` where nobody can be asked, or the
   *   call cannot be shown, `config_invalid` for options that are none
   */
  awaitApproval(tool: string, args: unknown, options?: AwaitApprovalOptions): Promise<ApprovalDecision>;
  /** Ends its connections. After that nothing is recorded, and no enforced call is allowed. */
  close(): Promise<void>;
}

export interface LedgerParts {
  readonly store: LedgerStore;
  /** Absent: nobody can be asked. */
  readonly approvals?: ApprovalDesk;
  /** Whether hashes may be comparable by this process alone. */
  readonly hidden: boolean;
  /** Ms since 1970. */
  readonly now: () => number;
  readonly closed: () => boolean;
}

/** A ledger on its parts, as far as it records. */
export function createLedgerOn(parts: LedgerParts): LedgerCore {
  const { store, now } = parts;
  const scheme = schemeFor(parts.hidden);

  async function confirm(read: ReadConfirmation, scope = surroundings().scope): Promise<Recorded> {
    const { tool, kind, outcome, role, ref } = read;
    const confirmation: Confirmation = {
      version: 1,
      id: randomUUID(),
      tool,
      kind,
      outcome,
      role,
      at: now(),
      binding: bindTo(read.args, scheme, read.bindFields, read.fieldAt),
      ...(ref === undefined ? {} : { ref }),
    };
    recordSpan(confirmation);
    if (isOff()) return { recorded: true, reason: "ledger_off" };
    if (scope === undefined) return { recorded: true, reason: "no_context" };
    const kept = await store.record(writeScope(scope), confirmation).then(
      () => true,
      () => false,
    );
    if (!kept) return { recorded: true, reason: "store_unavailable" };
    return read.unhashable ? { recorded: true, reason: "unhashable_args" } : { recorded: true };
  }

  return {
    async confirmToolCall(input) {
      if (parts.closed()) return { recorded: false, reason: "no_client" };
      const read = readConfirmation(input);
      if (typeof read === "string") return { recorded: false, reason: read };
      return await confirm(read).catch(() => ({ recorded: false, reason: "invalid_input" }) as const);
    },
    withContext: (context, fn) => runInContext(context, fn, now),
    confirmationArgsHash(args) {
      const checked = checkJson(args);
      return checked.ok ? hashOf(checked.value, scheme) : undefined;
    },
    async awaitApproval(tool, args, options = {}) {
      const { approvals } = parts;
      const { timeoutMs, sessionId } = readApprovalOptions(options);
      const call = readShown(tool, args);
      if (approvals === undefined || parts.closed()) {
        throw new DaleError("approval_unavailable", "Nobody can be asked: give the ledger `gateway` or `redis`.");
      }
      const scope = scopeOf(sessionId);
      const question = {
        session: scope?.id ?? "",
        tool: call.tool,
        args: canonicalize(call.args),
        fingerprint: fingerprint(call.tool, call.args),
        timeoutMs,
      };
      try {
        const decision = await awaitAnswer(approvals, question);
        await confirm(reviewed(call, decision.id, "approved"), scope);
        return decision;
      } catch (error) {
        if (error instanceof ApprovalRejectedError) {
          await confirm(reviewed(call, error.decision.id, "rejected"), scope);
        }
        throw error;
      }
    },
    close: () => store.close(),
  };
}

function scopeOf(sessionId: string | undefined): Scope | undefined {
  return sessionId === undefined ? surroundings().scope : { kind: "session", id: sessionId };
}

/** What a reviewer's word is in the ledger. */
function reviewed(call: ShownCall, ref: string, outcome: "approved" | "rejected"): ReadConfirmation {
  return { ...call, unhashable: false, ref, kind: "human_review", outcome, role: "reviewer" };
}

/**
 * No arguments are none: `{}`.
 * @throws DaleError `config_invalid` for what is no call, also for one whose arguments have another name
 */
export function readCall(call: unknown): CheckedToolCall {
  const tool = typeof call === "object" && call !== null ? readToolName(Reflect.get(call, "toolName")) : undefined;
  if (typeof call !== "object" || call === null || tool === undefined) {
    throw new DaleError("config_invalid", "A call to check has a toolName.");
  }
  const { args, unhashable, fieldAt } = readArgs(call, "args");
  if (unhashable) return { tool, args: undefined, fieldAt };
  const other = args === undefined ? unknownKey(call, ["toolName", "args"]) : undefined;
  if (other !== undefined) {
    throw new DaleError("config_invalid", `A call to check is {toolName, args}: this one has no args, but "${other}".`);
  }
  return { tool, args: args === undefined ? {} : args };
}

/** Read at every call: whoever switches the ledger off need not start anything again. */
export function isOff(env: Readonly<Record<string, string | undefined>> = process.env): boolean {
  return env.DALE_CONFIRMATION_LEDGER?.trim().toLowerCase() === "off";
}
