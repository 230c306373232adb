import { z } from "zod";
import { digestId, type JsonValue } from "../../canonical/index.js";
import { DaleError } from "../../errors/index.js";
import { type ActorRole, actorRoles, type ConfirmationKind, confirmationKinds } from "../confirmation.js";
import { keptMs } from "../context.js";
import { parsePath, type ValuePath } from "../path.js";
import { type Condition, parseCondition } from "./condition.js";
import type { Policies, Rule } from "./policy.js";

/** The file's shape. Messages are predicates without a subject: whoever knows the place puts it before them. */

const conditionText = z.string().max(1000).meta({ example: "amount > 1000" });
const conditions = z
  .union([conditionText, z.array(conditionText).max(50)], {
    error: "must be a condition or a list of conditions, for example amount > 1000",
  })
  .transform((given, context): readonly Condition[] => {
    const texts = typeof given === "string" ? [given] : given;
    return texts.flatMap((text, index) => {
      const parsed = parseCondition(text);
      if (parsed.ok) return [parsed.condition];
      context.addIssue({ code: "custom", path: typeof given === "string" ? [] : [index], message: parsed.problem });
      return [];
    });
  });

const path = z
  .string()
  .meta({ example: "order_id" })
  .transform((text, context): ValuePath => {
    const parsed = parsePath(text);
    if (parsed !== undefined) return parsed;
    context.addIssue({ code: "custom", message: "must be a path into the arguments, for example items[0].id" });
    return z.NEVER;
  });

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const age = z
  .string({ error: "must be a duration with its unit (ms, s, m or h), for example 10m" })
  .meta({ example: "10m" })
  .transform((text, context): number => {
    const [, amount, unit = ""] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)$/.exec(text.trim()) ?? [];
    const ms = Math.round(Number(amount) * (units[unit] ?? Number.NaN));
    if (ms > 0 && ms <= keptMs) return ms;
    const message = Number.isNaN(ms)
      ? "must be a duration with its unit (ms, s, m or h), for example 10m"
      : "must be from 1ms to 1h: confirmations are kept for an hour";
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  });

const pattern = z.string().min(1).max(256).meta({ example: "praxis_crear_*" });

const ruleShape = z
  .strictObject({
    tools: z.array(pattern).min(1).max(200).meta({ example: "[issue_refund]" }),
    when: conditions.prefault([]),
    accept: z
      .strictObject({
        kinds: z.array(z.enum(confirmationKinds)).min(1).optional(),
        roles: z.array(z.enum(actorRoles)).min(1).optional(),
      })
      .prefault({}),
    max_age: age.default(600_000),
    bind_fields: z.array(path).min(1).max(32).optional(),
    mode: z.enum(["enforce", "observe"]).default("enforce"),
    message: z.string().min(1).max(2000).optional(),
    on_missing: z.enum(["refuse", "request_approval"]).default("refuse"),
  })
  .transform((rule, context) => {
    const asks = rule.on_missing === "request_approval";
    const kinds = rule.accept.kinds ?? [asks ? "human_review" : "confirmation"];
    const roles = rule.accept.roles ?? [asks ? "reviewer" : "user"];
    if (asks && !(kinds.includes("human_review") && roles.includes("reviewer"))) {
      context.addIssue({
        code: "custom",
        path: ["accept"],
        message:
          "must name the kind human_review and the role reviewer, which is what an approval is: " +
          "add them, or leave out on_missing: request_approval",
      });
    }
    return { ...rule, accept: { kinds, roles } };
  });

/** policies.yaml, and the object that is as good as it. */
export const policiesShape = z.strictObject({
  require_confirmation: z.array(ruleShape).max(500).default([]),
});

/** Policies as they are written. */
export interface PoliciesInput {
  readonly require_confirmation?: readonly RuleInput[];
}

export interface RuleInput {
  /** Names of tools; `*` stands for any characters, `?` for one. */
  readonly tools: readonly string[];
  /** `amount > 1000`, or a list of which all have to hold. Default: always. */
  readonly when?: string | readonly string[];
  /** Default: a user's confirmation; with `on_missing: request_approval` a reviewer's review. */
  readonly accept?: { readonly kinds?: readonly ConfirmationKind[]; readonly roles?: readonly ActorRole[] };
  /** `10m` unless set, `1h` at most. */
  readonly max_age?: string;
  /** Paths into the arguments that alone have to be the same. */
  readonly bind_fields?: readonly string[];
  /** Default `enforce`. */
  readonly mode?: "enforce" | "observe";
  /** What a model is told whose call is refused. */
  readonly message?: string;
  /** Default `refuse`. In the gateway, `request_approval` parks the call until a reviewer has decided. */
  readonly on_missing?: "refuse" | "request_approval";
}

export function buildPolicies(checked: z.output<typeof policiesShape>): Policies {
  const rules = checked.require_confirmation.map((rule, index): Rule => {
    const { tools, accept, mode, message } = rule;
    const facts: JsonValue = {
      tools,
      when: rule.when.map(({ text }) => text),
      accept,
      max_age: rule.max_age,
      bind_fields: rule.bind_fields ?? null,
      on_missing: rule.on_missing,
    };
    return {
      id: digestId("rule-", facts),
      index,
      tools,
      when: rule.when,
      accept,
      maxAgeMs: rule.max_age,
      ...(rule.bind_fields === undefined ? {} : { bindFields: rule.bind_fields }),
      mode,
      ...(message === undefined ? {} : { message }),
      onMissing: rule.on_missing,
    };
  });
  const policies: Policies = { rules };
  known.set(policies, policies);
  return policies;
}

/** What was read of which object; policies that are read already are their own. */
const known = new WeakMap<object, Policies>();

/**
 * Reads policies that are handed over in code; the same object is read once.
 * @throws DaleError `config_invalid` with what is wrong and where
 */
export function readPolicies(input: unknown): Policies {
  const earlier = typeof input === "object" && input !== null ? known.get(input) : undefined;
  if (earlier !== undefined) return earlier;
  const checked = policiesShape.safeParse(input);
  if (!checked.success) {
    throw new DaleError("config_invalid", `These policies are not valid. ${z.prettifyError(checked.error)}`);
  }
  const policies = buildPolicies(checked.data);
  if (typeof input === "object" && input !== null) known.set(input, policies);
  return policies;
}
