import type { ApiTool } from "../spec/index.js";
import { defaultsOf, limitsOf, titlesOf, toolName } from "./declared.js";
import type { HttpCall, HttpCaller } from "./http-call.js";
import { callHttp } from "./http-tool.js";
import { argumentCheck, parameterSchema } from "./parameters.js";
import { refuseToCall, tenantAuth, tenantTimeoutMs } from "./tenant-access.js";
import type { Tool } from "./tool.js";

/** A tenant's own HTTP API. Reads are made over the guarded network; a proposing operation calls nobody. */
export function apiTools(declared: ApiTool, caller: HttpCaller): Tool[] {
  return declared.operations.map((operation) => {
    const name = toolName(declared.name, operation.name);
    const call: HttpCall = {
      shape: operation,
      auth: tenantAuth(declared.auth),
      connection: declared.connection,
      headers: {},
      timeoutMs: tenantTimeoutMs,
      ...(operation.select !== undefined && { select: operation.select }),
      changes: false,
      guarded: true,
      limits: limitsOf([[`tool|${declared.name}|${declared.connection}`, declared.rateLimit]]),
    };
    const parameters = parameterSchema(operation.parameters);
    return {
      name,
      kind: "api",
      description: operation.description,
      parameters,
      needsConfirmation: false,
      requiresApproval: operation.proposes,
      ...(operation.title !== undefined && { title: operation.title }),
      ...titlesOf(operation.parameters),
      ...defaultsOf(operation.parameters),
      ...(operation.proposes && {
        proposes: { tipo: "api", destino: declared.name, operacion: operation.name } as const,
      }),
      check: argumentCheck(name, parameters),
      call: operation.proposes ? refuseToCall : (args, context) => callHttp(caller, call, args, context),
    };
  });
}
