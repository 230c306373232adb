import type { Tool } from "../tools/index.js";
import type { CheckedCall, Outcome, RuntimeContext } from "./context.js";
import { proposedToCaller, refusal } from "./result-wording.js";
import type { Caller, RunState } from "./run-state.js";

/** A write on a tenant's own system: recorded for whoever runs that system, and never made here. */
export function performPropuesta(
  context: RuntimeContext,
  state: RunState,
  caller: Caller,
  tool: Tool,
  target: NonNullable<Tool["proposes"]>,
  call: CheckedCall,
): Outcome {
  const { limits } = context;
  if (!state.request.takesPropuestas) {
    return refused("nobody_takes_it", "Nothing was recorded: nobody would receive this proposal here.");
  }
  if (Buffer.byteLength(call.canonical, "utf8") > limits.propuestaBytes) {
    const most = Math.floor(limits.propuestaBytes / 1024);
    return refused("too_large", `Nothing was recorded: the arguments are larger than ${most} KB.`);
  }
  if (state.propuestas.length >= limits.propuestas) {
    const message = `Nothing was recorded: there are ${limits.propuestas} proposals in this run already. Say what was left out.`;
    return refused("too_many", message);
  }
  state.propuestas.push({
    tool: tool.name,
    tipo: target.tipo,
    destino: target.destino,
    operacion: target.operacion,
    argumentos: call.args,
    ...(caller.via.length === 0 ? {} : { via: caller.via }),
  });
  return { outcome: "ok", content: proposedToCaller(), code: "proposed" };
}

function refused(code: string, message: string): Outcome {
  return { outcome: "refused", content: refusal(code, message), code };
}
