import { describe, expect, it } from "vitest";
import { agentProblems, workflowProblems } from "../../../src/agents/runtime/index.js";

const onError = "stop" as const;

describe("templates of files", () => {
  it("of a chain are checked where they stand", () => {
    const links = [
      { agent: "a", when: "{{ output.data.score > 7 }}", input: "{{ output.answer }}", default: false, onError },
      { agent: "b", when: "{{ f(1) }}", input: "{{ output.", default: false, onError },
    ];
    const problems = agentProblems({ tools: [], chain: { mode: "sequential", onComplete: links } });
    expect(problems.map(({ path }) => path.join("."))).toEqual([
      "spec.chain.on_complete.1.when",
      "spec.chain.on_complete.1.input",
    ]);
    expect(problems[0]?.message).toContain("FunCall");
    expect(agentProblems({ tools: [] })).toEqual([]);
  });

  it("of a workflow are checked where they stand, inside arguments too", () => {
    const problems = workflowProblems({
      tools: [],
      steps: [
        { kind: "agent", name: "a", agent: "a", input: "{% set x = 1 %}", when: "{{ true }}", onError },
        {
          kind: "tool",
          name: "t",
          tool: "t",
          arguments: { n: 1, list: ["fine", { deep: "{{ x | shout }}" }] },
          onError,
        },
      ],
    });
    expect(problems.map(({ path }) => path.join("."))).toEqual([
      "spec.steps.0.input",
      "spec.steps.1.arguments.list.1.deep",
    ]);
  });
});

describe("JSON Schemas of files", () => {
  it("that nothing can be checked by are found before a run needs them", () => {
    const bad = { type: "object", properties: { score: { type: "strin" } } };
    const problems = agentProblems({
      outputSchema: bad,
      tools: [
        { type: "agent", name: "a", agent: "a", parameters: { type: "object" } },
        { type: "agent", name: "b", agent: "b", parameters: bad },
      ],
    });
    expect(problems.map(({ path }) => path.join("."))).toEqual(["spec.output_schema", "spec.tools.1.parameters"]);
  });
});
