import type { JsonObject } from "../../canonical/index.js";

export type ToolKind = "integration" | "api" | "mcp" | "agent" | "builtin" | "client";

/** A tool that an agent may use, ready to be called. `needsConfirmation` is the only field that gates. */
export interface Tool {
  /** `<slug with _>_<action>`: what the model sees. */
  readonly name: string;
  readonly kind: ToolKind;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly needsConfirmation: boolean;
  /** Derived from `writes`; informs, gates nothing. */
  readonly requiresApproval: boolean;
  /** Labels for the notice, from the manifest; the technical name stays visible beside them. */
  readonly title?: string;
  readonly argumentTitles?: Readonly<Record<string, string>>;
  /**
   * Declared values of arguments that a call leaves out. The runtime fills them in before it takes the fingerprint, so
   * that a notice shows all that will run.
   */
  readonly defaults?: JsonObject;
  /** For a tenant's `api`/`mcp` operation with `mode: propose`: it is returned, never executed here. */
  readonly proposes?: { readonly tipo: "api" | "mcp"; readonly destino: string; readonly operacion: string };
  /** Checks arguments against the declaration. @returns what is wrong, in words for the model; undefined when fine */
  check(args: JsonObject): string | undefined;
  /**
   * Calls it. Never rejects for what the other side may do: that is an `ok: false` result. Rejects only when aborted.
   */
  call(args: JsonObject, context: CallContext): Promise<ToolResult>;
}

export interface CallContext {
  readonly signal: AbortSignal;
  /** The same for every retry of this very call: sent where the manifest names a header for it. */
  readonly idempotencyKey: string;
  /** Per-run credentials: connection name → its fields. They go nowhere else. */
  readonly connections: ConnectionOverrides;
}

export type ConnectionOverrides = Readonly<Record<string, Readonly<Record<string, string>>>>;

export type ToolResult =
  | { readonly ok: true; readonly content: string }
  | {
      readonly ok: false;
      /** Short and stable: `http_404`, `timeout`, `too_large`, `unreachable`, `bad_arguments`, … */
      readonly code: string;
      /** For the model: what went wrong, without secrets. */
      readonly content: string;
      /** True when it is not known whether the other side did it (no answer after the request had left). */
      readonly uncertain: boolean;
    };
