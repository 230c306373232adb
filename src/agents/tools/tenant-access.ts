import type { ManifestAuth, TenantAuth } from "../spec/index.js";
import type { ToolResult } from "./tool.js";

/** Milliseconds that a call of a tenant's own API or MCP server may take. */
export const tenantTimeoutMs = 30_000;

/** The field of a connection that signs calls of a tenant's own API or MCP server. */
const credential = "credential";

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
