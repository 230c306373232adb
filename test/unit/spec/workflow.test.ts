import { describe, expect, it } from "vitest";
import { loadAgents } from "../../../src/agents/spec/index.js";
import { folder } from "../../fixtures/folder.js";
import { agentFile, load, manifestFile } from "./files.js";

const workflowFile = (spec: string) =>
  `apiVersion: astromesh/v1\nkind: Workflow\nmetadata: { name: w }\nspec:\n${spec}`;

const loadWorkflow = (spec: string) =>
  load({
    "agents/a.agent.yaml": agentFile("a"),
    "integrations/praxis.integration.yaml": manifestFile("praxis", { find: "GET /x" }),
    "agents/w.workflow.yaml": workflowFile(spec),
  });

describe("a workflow file", () => {
  it("is a sequence of agent and tool steps with triggers", async () => {
    const { workflows, found } = await loadWorkflow(`  description: Qualifies leads
  trigger: api
  triggers: [{ schedule: "*/15 8-20 * * mon-fri", timezone: America/Argentina/Buenos_Aires, query: go }]
  timeout_seconds: 60
  tools: [{ name: praxis, type: integration, actions: [find] }]
  steps:
    - { name: research, agent: a }
    - name: look
      tool: praxis_find
      arguments: { q: "{{ steps.research.output.answer }}", n: 1 }
      when: "{{ steps['research'].output.data.score > 7 }}"
      retry: { max_attempts: 2 }
      timeout_seconds: 5
      on_error: continue
`);
    expect(found).toEqual([]);
    const workflow = workflows.get("w");
    expect(workflow).toEqual({
      name: "w",
      version: "0.1.0",
      file: workflow?.file,
      description: "Qualifies leads",
      triggers: [
        { kind: "api" },
        { kind: "schedule", cron: "*/15 8-20 * * mon-fri", timezone: "America/Argentina/Buenos_Aires", query: "go" },
      ],
      timeoutMs: 60_000,
      tools: [{ type: "integration", name: "praxis", manifest: "praxis", actions: ["find"], confirm: [] }],
      steps: [
        { kind: "agent", name: "research", agent: "a", input: "{{ trigger.query }}", onError: "stop" },
        {
          kind: "tool",
          name: "look",
          tool: "praxis_find",
          arguments: { q: "{{ steps.research.output.answer }}", n: 1 },
          when: "{{ steps['research'].output.data.score > 7 }}",
          retry: { maxAttempts: 2, backoff: "fixed", initialDelayMs: 1000 },
          timeoutMs: 5000,
          onError: "continue",
        },
      ],
    });
  });

  it.each([
    [
      "a step that is neither",
      "  steps: [{ name: one }]\n",
      "5 ‹one› error: a step has either an agent or a tool: write one of the two",
    ],
    [
      "a step that is both",
      "  steps: [{ name: one, agent: a, tool: t }]\n",
      "5 ‹one› error: a step has either an agent or a tool: write one of the two",
    ],
    [
      "a tool that is not declared",
      "  steps: [{ name: one, tool: praxis_find }]\n",
      "5 ‹praxis_find› error: this workflow declares no tools: declare the tool under spec.tools, as in an agent",
    ],
    [
      "a tool that is called otherwise",
      "  tools: [{ name: praxis, type: integration, actions: [find] }]\n  steps: [{ name: one, tool: praxis_fnd }]\n",
      '6 ‹praxis_fnd› error: "tool" must be praxis_find',
    ],
    [
      "input for a tool",
      "  tools: [{ name: praxis, type: integration, actions: [find] }]\n  steps: [{ name: one, tool: praxis_find, input: x }]\n",
      "6 ‹input› error: a tool is given arguments, not input",
    ],
    [
      "a reference to a later step",
      '  steps: [{ name: one, agent: a, input: "{{ steps.two.output }}" }, { name: two, agent: a }]\n',
      '5 ‹"{{ steps.two.output }}"› error: steps.two: there is no step before this one; use trigger.query',
    ],
    [
      "a reference to no step",
      '  steps: [{ name: one, agent: a }, { name: two, agent: a, when: "{{ steps.oen.output }}" }]\n',
      '5 ‹"{{ steps.oen.output }}"› error: steps.oen is no step before this one: it must be one',
    ],
    [
      "two steps of one name",
      "  steps: [{ name: one, agent: a }, { name: one, agent: a }]\n",
      "5 ‹one› error: two steps of this name: give each step its own",
    ],
    [
      "a trigger that there is not",
      "  trigger: webhook\n  steps: [{ name: one, agent: a }]\n",
      '5 ‹webhook› error: "trigger" must be api: a schedule stands under triggers',
    ],
    [
      "a schedule of too few fields",
      '  triggers: [{ schedule: "0 9 * *" }]\n  steps: [{ name: one, agent: a }]\n',
      '5 ‹"0 9 * *"› error: a schedule has five fields (minute, hour, day of the month, month, day of the week): write for example "0 9 * * 1-5"',
    ],
    [
      "an hour that there is not",
      '  triggers: [{ schedule: "0 24 * * *" }]\n  steps: [{ name: one, agent: a }]\n',
      '5 ‹"0 24 * * *"› error: the hour of a schedule is *, a number from 0 to 23, a range (1-5), a step (*/15) or a list of these',
    ],
    [
      "a time zone that there is not",
      '  triggers: [{ schedule: "0 9 * * *", timezone: Mars/Olympus }]\n  steps: [{ name: one, agent: a }]\n',
      "5 ‹Mars/Olympus› error: no known time zone: write for example America/Argentina/Buenos_Aires",
    ],
  ])("is refused with %s", async (_name, spec, expected) => {
    const { workflows, found } = await loadWorkflow(spec);
    expect(found).toEqual([`agents/w.workflow.yaml:${expected}`]);
    expect(workflows.size).toBe(0);
  });

  it("is left out when another room finds it wrong", async () => {
    const root = await folder({
      "w.workflow.yaml": workflowFile("  steps: [{ name: one, agent: a }]\n"),
      "a.agent.yaml": agentFile("a"),
    });
    const { workflows, problems } = await loadAgents({
      agents: root,
      inspectWorkflow: async (_workflow, yaml) => [yaml.problem(["spec", "steps", 0, "name"], "no")],
    });
    expect(problems).toMatchObject([{ line: 5, column: 19, message: "no" }]);
    expect(workflows.size).toBe(0);
  });

  it("is known by its kind, whatever the file is called", async () => {
    const { workflows } = await load({
      "agents/a.agent.yaml": agentFile("a"),
      "agents/w.agent.yml":
        "apiVersion: astromesh/v1\nkind: Workflow\nmetadata: { name: a }\nspec: { steps: [{ name: x, agent: a }] }\n",
    });
    expect([...workflows.keys()]).toEqual(["a"]);
  });
});
