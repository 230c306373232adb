import { z } from "zod";
import { parseStrict } from "../canonical/index.js";
import { type ExportLine, exportLine } from "../evidence/index.js";
import { actorRoles, confirmationKinds, confirmationOutcomes } from "../ledger/index.js";

/** What a line of recorded calls tells. */
export interface Line {
  readonly tells: "call" | "confirmation";
  readonly at?: string | undefined;
  readonly session: string;
  readonly tool: string;
  readonly args?: unknown;
  readonly args_hash?: string | undefined;
  readonly kind?: string | undefined;
  readonly outcome?: string | undefined;
  readonly actor_role?: (typeof actorRoles)[number] | undefined;
  readonly ref?: string | undefined;
  readonly bind_fields?: readonly string[] | undefined;
}

const common = {
  at: z.iso.datetime({ offset: true }).optional(),
  session: z.string().default(""),
  tool: z.string().min(1),
  args: z.unknown().optional(),
  args_hash: z.string().optional(),
};
/** An app's own lines: strict, for a key that is misspelt would change what a rule comes to, and nobody would see it. */
const ownCall = z.strictObject({ type: z.literal("call").default("call"), ...common });
const ownConfirmation = z.strictObject({
  type: z.literal("confirmation"),
  ...common,
  kind: z.enum(confirmationKinds).optional(),
  outcome: z.enum(confirmationOutcomes).optional(),
  actor_role: z.enum(actorRoles).optional(),
  ref: z.string().optional(),
  bind_fields: z.array(z.string()).optional(),
});

/** An item of a session's timeline, or of the list of evidence. */
const listed = z.looseObject({
  ...common,
  type: z.string().optional(),
  kind: z.string().optional(),
  tool: z.string().default(""),
  outcome: z.string().optional(),
  consent: z.string().optional(),
});

const exportKinds = new Set(["evidence", "block", "chain", "entry", "end"]);
const timelineKinds = new Set(["message", "call", "answer", "delivery", "evidence"]);

export type LineReading =
  | { readonly line: Line | undefined }
  /** In a few words, why it cannot be read. */
  | { readonly problem: string };

/**
 * Reads lines in the order of the file: an app's own, those of an export of the evidence, items of a timeline or of the
 * list of evidence. `line` is undefined where one tells of no call and of no confirmation.
 */
export function createLineReader(): (text: string) => LineReading {
  /** Of the proposals that an export has told of: their calls are told without. */
  const argsOf = new Map<string, unknown>();

  function told(line: ExportLine): Line | undefined {
    if (line.kind !== "entry") return undefined;
    const { type, proposal, tool, at, chain } = line;
    const { detail = {}, argsHash = "" } = line.told ?? {};
    if (type === "proposed" && typeof detail.args === "string") argsOf.set(proposal, parsedArgs(detail.args));
    const tells = tellsOf(type);
    if (tells === undefined || tool === "") return undefined;
    // A chain is one session's, also where the session itself was erased.
    const base = { tells, at, session: chain, tool };
    // The ledger's own hash is of another kind than a call's: such a confirmation is tied to the tool only.
    if (type === "confirmation") {
      const { kind, outcome, role, ref } = detail;
      const actor = actorRoles.find((each) => each === role);
      return { ...base, kind: text(kind), outcome: text(outcome), actor_role: actor, ref: text(ref) };
    }
    const args = argsOf.get(proposal);
    const hash = argsHash === "" ? {} : { args_hash: argsHash };
    return {
      ...base,
      ...hash,
      ...(args === undefined ? {} : { args }),
      ...(tells === "call" ? {} : yes(text(detail.consent))),
    };
  }

  return (raw) => {
    const value = json(raw);
    if (typeof value !== "object" || value === null) return { problem: "no JSON object" };
    const kind: unknown = Reflect.get(value, "kind");
    const inTimeline = "turn" in value && timelineKinds.has(String(kind));
    if (exportKinds.has(String(kind)) && !inTimeline) {
      const parsed = exportLine.safeParse(value);
      return parsed.success ? { line: told(parsed.data) } : { problem: problemOf(parsed.error) };
    }
    const type: unknown = Reflect.get(value, "type");
    if (inTimeline || kind === "call" || "proposal" in value) {
      const parsed = listed.safeParse(value);
      return parsed.success ? { line: listedLine(parsed.data) } : { problem: problemOf(parsed.error) };
    }
    const parsed = type === "confirmation" ? ownConfirmation.safeParse(value) : ownCall.safeParse(value);
    if (!parsed.success) return { problem: problemOf(parsed.error) };
    const { type: tells, ...line } = parsed.data;
    return { line: { tells, ...line } };
  };
}

/** Of the evidence, `granted` is a yes and `consumed` the call; a timeline's gated calls stand there, so they are left. */
function listedLine({ type, kind, outcome, consent, ...line }: z.output<typeof listed>): Line | undefined {
  const made = type === undefined && kind === "call" && (outcome === "ok" || outcome === "error");
  const tells = made ? "call" : type === undefined ? undefined : tellsOf(type);
  if (tells === undefined || line.tool === "") return undefined;
  const { at, session, tool, args } = line;
  const hash = type === "confirmation" ? {} : { args_hash: line.args_hash };
  return { tells, at, session, tool, args, ...hash, ...(tells === "call" ? {} : yes(consent)) };
}

function tellsOf(type: string): Line["tells"] | undefined {
  if (type === "consumed") return "call";
  return type === "granted" || type === "confirmation" ? "confirmation" : undefined;
}

/** Whose a yes in the evidence was. */
function yes(consent: string | undefined): Pick<Line, "kind" | "actor_role"> {
  return consent === "human_review" ? { kind: consent, actor_role: "reviewer" } : {};
}

function parsedArgs(args: string): unknown {
  const parsed = parseStrict(args);
  return parsed.ok ? parsed.value : undefined;
}

function text(value: string | number | boolean | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function problemOf(error: z.ZodError): string {
  return z.prettifyError(error).split("\n")[0] ?? "";
}

function json(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return undefined;
  }
}
