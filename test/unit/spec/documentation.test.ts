import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { agentShape } from "../../../src/agents/spec/agent.js";
import { manifestShape } from "../../../src/agents/spec/manifest.js";
import { parameterShape } from "../../../src/agents/spec/parameters.js";
import { workflowShape } from "../../../src/agents/spec/workflow.js";
import { builtinNames } from "../../../src/agents/tools/index.js";
import { documentedKeys, keysOf } from "../../fixtures/documented-keys.js";
import { agentFile, load } from "./files.js";

const page = await readFile(new URL("../../../docs/agents.md", import.meta.url), "utf8");
const sections = new Map(page.split(/^## /m).map((section) => [section.split("\n")[0] ?? "", section]));
const documented = (...titles: readonly string[]) =>
  [
    ...new Set(
      titles
        .flatMap((title) => documentedKeys(sections.get(title) ?? ""))
        .flatMap(({ key }) =>
          key.includes(".*") ? [key.replace("*", "primary"), key.replace("*", "fallback")] : [key],
        ),
    ),
  ].sort();
const schemaKeys = (...args: Parameters<typeof keysOf>) => [...new Set(keysOf(...args))].sort();

describe("docs/agents.md", () => {
  it("lists every key of an agent, and no other", () => {
    expect(documented("An agent")).toEqual(schemaKeys(agentShape));
  });

  it("lists every key of a manifest, and no other", () => {
    expect(documented("An integration")).toEqual(schemaKeys(manifestShape));
  });

  it("lists every key of a parameter, and no other", () => {
    expect(documented("Parameters")).toEqual(schemaKeys(parameterShape));
  });

  it("lists every key of a workflow, and no other; its tools are those of agents", () => {
    const keys = new Set(schemaKeys(workflowShape).map((key) => key.replace(/^spec\.tools\[\].*/, "spec.tools")));
    expect(documented("Workflows")).toEqual([...keys].sort());
  });

  it("names every built-in tool", () => {
    for (const name of builtinNames) expect(page).toContain(`\`${name}\``);
  });

  it("has examples that load", async () => {
    const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, block = ""]) => block);
    const kind = (name: string) => blocks.find((block) => block.includes(`kind: ${name}`)) ?? "";
    const tools = blocks.find((block) => block.includes("type: mcp")) ?? "";
    const more = "    - name: buscar_records\n      description: d\n      request: { method: GET, path: /records }\n";
    const { agents, workflows, found } = await load({
      "agents/cobranzas.agent.yaml": kind("Agent"),
      "agents/tenant.agent.yaml": agentFile("tenant", `  tools:\n${tools}`),
      "agents/redactor.agent.yaml": agentFile("redactor"),
      "agents/daily.workflow.yaml": kind("Workflow"),
      "integrations/praxis.integration.yaml": `${kind("Integration")}${more}`,
      "connections.yaml": "praxis_main: { base_url: http://h }\nerp_main: { base_url: http://h }\nsoporte_mcp: {}\n",
    });
    expect(found).toEqual([]);
    expect([...agents.keys(), ...workflows.keys()]).toEqual(["cobranzas", "redactor", "tenant", "daily-report"]);
  });
});
