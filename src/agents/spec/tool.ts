import type { ToolDeclaration } from "./agent-types.js";
import { defined } from "./fields.js";
import { buildParameters, emptyObjectSchema } from "./parameters.js";
import type { Problem } from "./problem.js";
import { templateFaults } from "./request-shape.js";
import { oneOf } from "./shape.js";
import type { ToolShape } from "./tool-shapes.js";
import type { Path, YamlFile } from "./yaml-file.js";

/** Checks what a tool's shape cannot say by itself, and makes the declaration. @param at where the tool stands */
export function buildTool(tool: ToolShape, yaml: YamlFile, at: Path): { tool: ToolDeclaration; problems: Problem[] } {
  const problems: Problem[] = [];
  const warn = (path: Path, message: string) =>
    problems.push(yaml.problem([...at, ...path], message, { severity: "warning", at: "key" }));
  if ("confirm" in tool && tool.type !== "integration" && tool.confirm !== undefined)
    warn(
      ["confirm"],
      `confirm gates nothing on a tool of type ${tool.type}: only the actions of an integration can wait`,
    );
  if (tool.requires_approval !== undefined)
    warn(
      ["requires_approval"],
      "requires_approval gates nothing: write confirm for an action that has to wait for a yes",
    );
  if (tool.timeout_seconds !== undefined)
    warn(["timeout_seconds"], "timeout_seconds is not read here: write it in the manifest's action");
  return { tool: declaration(tool, yaml, at, problems), problems };
}

function declaration(tool: ToolShape, yaml: YamlFile, at: Path, problems: Problem[]): ToolDeclaration {
  const rateLimit = tool.rate_limit;
  switch (tool.type) {
    case "integration": {
      checkActions(tool.actions, tool.confirm, yaml, at, problems);
      const { type, name, connection, actions, confirm } = tool;
      if (tool.description !== undefined)
        problems.push(
          yaml.problem(
            [...at, "description"],
            "description is not read here: the manifest's descriptions are what a model sees",
            {
              severity: "warning",
              at: "key",
            },
          ),
        );
      return defined({ type, name, manifest: tool.integration ?? name, connection, actions, confirm, rateLimit });
    }
    case "api": {
      const { type, name, description, connection, auth } = tool;
      const operations = tool.operations.map((operation, index) => {
        const place = [...at, "operations", index];
        const parameters = buildParameters(operation.parameters);
        const request = defined({ ...operation.request, headers: {} });
        const proposes = checkWriting(operation, yaml, place, problems);
        if (!proposes && request.method !== "GET" && request.method !== "POST")
          problems.push(yaml.problem([...place, "request", "method"], "the method of a read has to be GET or POST"));
        if (request.method === "GET" && request.body !== undefined)
          problems.push(
            yaml.problem([...place, "request", "body"], "a GET request has no body: use query", { at: "key" }),
          );
        for (const fault of templateFaults(request, parameters)) {
          const inside = fault.path.length === 0 ? ["parameters"] : ["request", ...fault.path];
          problems.push(yaml.problem([...place, ...inside], fault.message, { severity: fault.severity }));
        }
        const { title } = operation;
        return defined({
          name: operation.name,
          title,
          description: operation.description.trim(),
          parameters,
          proposes,
          request,
          select: operation.response.select,
        });
      });
      return defined({ type, name, description, connection, auth, operations, rateLimit });
    }
    case "mcp": {
      const { type, name, description, connection, path, auth } = tool;
      const tools = tool.tools.map((entry, index) =>
        defined({
          name: entry.name,
          title: entry.title,
          description: entry.description.trim(),
          proposes: checkWriting(entry, yaml, [...at, "tools", index], problems),
          inputSchema: entry.input_schema,
        }),
      );
      return defined({ type, name, description, connection, path, auth, tools, rateLimit });
    }
    case "agent": {
      const { type, name, agent, description, parameters } = tool;
      if (tool.context_transform !== undefined)
        problems.push(
          yaml.problem(
            [...at, "context_transform"],
            "context_transform is not carried out: the other agent gets the query alone",
            {
              severity: "warning",
              at: "key",
            },
          ),
        );
      return defined({ type, name, agent, description, parameters, rateLimit });
    }
    case "builtin": {
      const { type, name, description, parameters, config } = tool;
      return defined({ type, name, description, parameters, config, rateLimit });
    }
    default: {
      const { name, description, parameters } = tool;
      return defined({
        type: "client" as const,
        name,
        description,
        parameters: parameters ?? emptyObjectSchema,
        rateLimit,
      });
    }
  }
}

function checkActions(
  actions: readonly string[],
  confirm: readonly string[],
  yaml: YamlFile,
  at: Path,
  problems: Problem[],
): void {
  for (const [index, action] of actions.entries())
    if (actions.indexOf(action) !== index)
      problems.push(yaml.problem([...at, "actions", index], "this action stands here twice: keep one of the two"));
  for (const [index, action] of confirm.entries())
    if (!actions.includes(action))
      problems.push(
        yaml.problem(
          [...at, "confirm", index],
          `the action "${action}" under confirm is not among this tool's actions, so it would gate nothing: ` +
            `${oneOf(actions, action)}`,
        ),
      );
}

/** @returns whether the operation only proposes */
function checkWriting(
  operation: { readonly writes: boolean; readonly mode?: "propose" | undefined },
  yaml: YamlFile,
  at: Path,
  problems: Problem[],
): boolean {
  if (operation.writes && operation.mode === undefined)
    problems.push(
      yaml.problem([...at, "writes"], "a write on a tenant's own system is only proposed: add mode: propose", {
        at: "key",
      }),
    );
  if (!operation.writes && operation.mode !== undefined)
    problems.push(
      yaml.problem([...at, "mode"], "only a write can propose: write writes: true, or leave mode out", { at: "key" }),
    );
  return operation.mode === "propose";
}
