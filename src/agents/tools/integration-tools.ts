import { DaleError } from "../../errors/index.js";
import type { IntegrationManifest, IntegrationTool } from "../spec/index.js";
import { defaultsOf, limitsOf, titlesOf, toolName } from "./declared.js";
import type { HttpCall, HttpCaller } from "./http-call.js";
import { callHttp } from "./http-tool.js";
import { cursorParameter } from "./paging.js";
import { argumentCheck, parameterSchema } from "./parameters.js";
import type { Tool } from "./tool.js";

/** @throws DaleError `config_invalid` when the manifest or one of its actions is not there */
export function integrationTools(
  declared: IntegrationTool,
  manifests: ReadonlyMap<string, IntegrationManifest>,
  caller: HttpCaller,
): Tool[] {
  const manifest = manifests.get(declared.manifest);
  if (manifest === undefined) throw new DaleError("config_invalid", `no manifest ${declared.manifest} is loaded`);
  return declared.actions.map((actionName) => {
    const action = manifest.actions.find(({ name }) => name === actionName);
    if (action === undefined) throw new DaleError("config_invalid", `${manifest.name} has no action ${actionName}`);
    const name = toolName(declared.name, action.name);
    const needsConfirmation = declared.confirm.includes(action.name);
    const place = `${manifest.name}|${declared.connection ?? ""}`;
    const call: HttpCall = {
      shape: action,
      auth: manifest.auth,
      ...(declared.connection !== undefined && { connection: declared.connection }),
      ...(manifest.baseUrl !== undefined && { baseUrl: manifest.baseUrl }),
      headers: manifest.headers,
      timeoutMs: action.timeoutMs ?? manifest.timeoutMs,
      ...(action.select !== undefined && { select: action.select }),
      ...(action.pagination && { pagination: action.pagination }),
      changes: action.writes || needsConfirmation,
      guarded: false,
      limits: limitsOf([
        [place, manifest.rateLimit],
        [`${place}|${action.name}`, action.rateLimit],
        [`tool|${name}`, declared.rateLimit],
      ]),
    };
    const paged = action.pagination && !action.parameters.some(({ name }) => name === cursorParameter.name);
    const parameters = parameterSchema(paged ? [...action.parameters, cursorParameter] : action.parameters);
    return {
      name,
      kind: "integration",
      description: action.description,
      parameters,
      needsConfirmation,
      requiresApproval: action.writes,
      ...(action.title !== undefined && { title: action.title }),
      ...titlesOf(action.parameters),
      ...defaultsOf(action.parameters),
      check: argumentCheck(name, parameters),
      call: (args, context) => callHttp(caller, call, args, context),
    };
  });
}
