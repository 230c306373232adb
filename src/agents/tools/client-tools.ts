import type { ClientTool } from "../spec/index.js";
import { argumentCheck, closed } from "./parameters.js";
import type { Tool } from "./tool.js";

/**
 * A tool that the application which asked for the run carries out itself, after it: the call is the message. Nothing is
 * executed here and nothing comes back, so the model is told just that.
 */
export function clientTool(declared: ClientTool): Tool {
  const parameters = closed(declared.parameters);
  const { name } = declared;
  return {
    name,
    kind: "client",
    description: declared.description,
    parameters,
    needsConfirmation: false,
    requiresApproval: false,
    check: argumentCheck(name, parameters),
    call: async () => ({
      ok: true,
      content: "Handed to the application that asked for this answer. It sends no result back: do not assume one.",
    }),
  };
}
