import type { ApiTool, ManifestAuth, TenantAuth } from "../spec/index.js";
import { limitsOf, titlesOf, toolName } from "./declared.js";
import { callHttp, type HttpCall, type HttpCaller } from "./http-tool.js";
import { argumentCheck, parameterSchema } from "./parameters.js";
import type { Tool, ToolResult } from "./tool.js";

/** Milliseconds that a call of a tenant's own API or MCP server may take. */
export const tenantTimeoutMs = 30_000;

/** The field of a connection that signs calls of a tenant's own API or MCP server. */
const credential = "credential";

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
      ...(operation.proposes && {
        proposes: { tipo: "api", destino: declared.name, operacion: operation.name } as const,
      }),
      check: argumentCheck(name, parameters),
      call: operation.proposes ? refuseToCall : (args, context) => callHttp(caller, call, args, context),
    };
  });
}

export function tenantAuth(auth: TenantAuth): ManifestAuth {
  switch (auth.scheme) {
    case "none":
      return { scheme: "none" };
    case "bearer":
    case "basic":
      return { scheme: auth.scheme, credential };
    case "header":
      return { scheme: "header", credential, headerName: auth.header };
    case "query":
      return { scheme: "query", credential, paramName: auth.param };
  }
}

/** The `call` of a proposing tool. The runtime returns such calls to whoever asked for the run, and makes none. */
export async function refuseToCall(): Promise<ToolResult> {
  return {
    ok: false,
    code: "proposes_only",
    content: "Not called: this operation is proposed to the caller and never carried out here.",
    uncertain: false,
  };
}
