/** What is said to the process that holds PGlite, and what it answers. Over Node's IPC, so bytes stay bytes. */
export type ToPglite =
  /** Comes with the handle of the folder's lock, which need not be used: having it is enough. */
  | { readonly kind: "hold" }
  | { readonly kind: "query"; readonly id: number; readonly sql: string; readonly parameters: readonly unknown[] }
  | { readonly kind: "close" };

export type FromPglite =
  | { readonly kind: "made" }
  | { readonly kind: "ready" }
  | { readonly kind: "broken"; readonly code: string }
  | {
      readonly kind: "result";
      readonly id: number;
      readonly rows: readonly Record<string, unknown>[];
      readonly affected?: number;
    }
  /** `code`: the SQLSTATE, never a text: that may quote what was to be written. */
  | { readonly kind: "failed"; readonly id: number; readonly code: string };
