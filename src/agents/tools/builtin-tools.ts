import type { JsonObject } from "../../canonical/index.js";
import { DaleError } from "../../errors/index.js";
import type { BuiltinTool } from "../spec/index.js";
import { notDone } from "./fault.js";
import { argumentCheck, type JsonSchema } from "./parameters.js";
import type { Tool, ToolResult } from "./tool.js";

interface Builtin {
  readonly description: string;
  readonly parameters: JsonSchema;
  run(args: JsonObject, config: JsonObject, now: () => number): ToolResult;
}

/** Date and time in a zone: of the call, else `config.timezone`, else UTC. */
const currentTime: Builtin = {
  description: "Tells the current date, weekday and time.",
  parameters: {
    type: "object",
    properties: {
      timezone: { type: "string", description: "IANA name of a time zone, such as America/Argentina/Buenos_Aires." },
    },
    additionalProperties: false,
  },
  run(args, config, now) {
    const timezone = [args.timezone, config.timezone].find((zone) => typeof zone === "string") ?? "UTC";
    const at = new Date(now());
    try {
      const parts = new Intl.DateTimeFormat("en-CA", {
        timeZone: String(timezone),
        dateStyle: "short",
        timeStyle: "medium",
        hourCycle: "h23",
      }).format(at);
      const weekday = new Intl.DateTimeFormat("en", { timeZone: String(timezone), weekday: "long" }).format(at);
      const [date, time] = parts.split(", ");
      return { ok: true, content: JSON.stringify({ date, time, weekday, timezone, utc: at.toISOString() }) };
    } catch (error) {
      if (error instanceof RangeError) return notDone("bad_arguments", "There is no time zone of that name.");
      throw error;
    }
  },
};

const builtins = new Map<string, Builtin>([
  ["fecha_actual", currentTime],
  ["datetime_now", currentTime],
]);

/** What `type: builtin` may be named. `datetime_now` is `fecha_actual` under the name that existing agents use. */
export const builtinNames: readonly string[] = [...builtins.keys()];

/** @throws DaleError `config_invalid` when there is no built-in of that name */
export function builtinTool(declared: BuiltinTool, now: () => number): Tool {
  const builtin = builtins.get(declared.name);
  if (builtin === undefined) {
    throw new DaleError("config_invalid", `no built-in ${declared.name}; there are ${builtinNames.join(", ")}`);
  }
  return {
    name: declared.name,
    kind: "builtin",
    description: declared.description ?? builtin.description,
    parameters: builtin.parameters,
    needsConfirmation: false,
    requiresApproval: false,
    check: argumentCheck(declared.name, builtin.parameters),
    call: async (args) => builtin.run(args, declared.config, now),
  };
}
