import { describe, expect, it } from "vitest";
import { agentFile, load } from "./files.js";

const asks = (...others: readonly string[]) =>
  `  tools:\n${others.map((other) => `    - { name: ask_${other}, type: agent, agent: ${other} }\n`).join("")}`;
const chains = (other: string) => `  chain: { on_complete: [{ agent: ${other} }] }\n`;
const workflow = (name: string, agent: string) =>
  `apiVersion: astromesh/v1
kind: Workflow
metadata: { name: ${name} }
spec:
  steps: [{ name: one, agent: ${agent} }]
`;
const files = (specs: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(specs).map(([name, spec]) => [`agents/${name}.agent.yaml`, agentFile(name, spec)]));

describe("agents that mention each other", () => {
  it("load, as tools, in chains and in workflows", async () => {
    const { agents, workflows, found } = await load({
      ...files({ a: asks("b", "c"), b: chains("c"), c: "" }),
      "agents/w.workflow.yaml": workflow("w", "a"),
    });
    expect(found).toEqual([]);
    expect([...agents.keys()]).toEqual(["a", "b", "c"]);
    expect([...workflows.keys()]).toEqual(["w"]);
  });

  it("may not mention one that is not there, wherever they do", async () => {
    const { agents, failed, workflows, found } = await load({
      ...files({ a: asks("specialst"), b: chains("nobody"), specialist: "" }),
      "agents/w.workflow.yaml": workflow("w", "nobody"),
    });
    expect(found).toEqual([
      'agents/a.agent.yaml:7 ‹specialst› error: there is no agent "specialst": did you mean "specialist"?',
      'agents/b.agent.yaml:6 ‹nobody› error: there is no agent "nobody": write the metadata.name of an agent file',
      'agents/w.workflow.yaml:5 ‹nobody› error: there is no agent "nobody": write the metadata.name of an agent file',
    ]);
    expect([...agents.keys()]).toEqual(["specialist"]);
    expect([...failed].sort()).toEqual(["a", "b"]);
    expect(workflows.size).toBe(0);
  });

  it("do not load when one that they need is bad; the others do", async () => {
    const { agents, found } = await load(files({ a: asks("b"), b: asks("c"), c: "  nonsense: 1\n", d: "" }));
    expect([...agents.keys()]).toEqual(["d"]);
    expect(found.filter((line) => line.includes("did not load"))).toEqual([
      'agents/a.agent.yaml:7 ‹b› error: the agent "b" did not load: mend it first',
      'agents/b.agent.yaml:7 ‹c› error: the agent "c" did not load: mend it first',
    ]);
  });

  it("may not call each other in a circle, over tools and chains", async () => {
    const { agents, found } = await load(files({ a: asks("b"), b: chains("c"), c: asks("a"), d: asks("d"), e: "" }));
    expect(found).toEqual([
      "agents/a.agent.yaml:7 ‹b› error: agents that call each other in a circle (a → b → c → a): take one of the calls out",
      "agents/b.agent.yaml:6 ‹c› error: agents that call each other in a circle (b → c → a → b): take one of the calls out",
      "agents/c.agent.yaml:7 ‹a› error: agents that call each other in a circle (c → a → b → c): take one of the calls out",
      "agents/d.agent.yaml:7 ‹d› error: agents that call each other in a circle (d → d): take one of the calls out",
    ]);
    expect([...agents.keys()]).toEqual(["e"]);
  });

  it("may be nested five levels deep, and not six", async () => {
    const line = { b: asks("c"), c: asks("d"), d: asks("e"), e: chains("f"), f: "" };
    expect((await load(files({ a: asks("b"), ...line }))).found).toEqual([]);
    const { agents, found } = await load({
      ...files({ z: asks("a"), a: asks("b"), ...line }),
      "agents/w.workflow.yaml": workflow("w", "a"),
      "agents/x.workflow.yaml": workflow("x", "b"),
    });
    expect(found).toEqual([
      "agents/w.workflow.yaml:5 ‹a› error: agents nested deeper than 5 levels (w → a → b → c → d → e → f): take a level out",
      "agents/z.agent.yaml:7 ‹a› error: agents nested deeper than 5 levels (z → a → b → c → d → e → f): take a level out",
    ]);
    expect([...agents.keys()]).not.toContain("z");
  });

  it("have a chain with one default at most, and none that cannot see what it asks for", async () => {
    const chain = (text: string) => load(files({ a: `  chain: ${text}\n`, b: "" }));
    expect((await chain("{ on_complete: [{ agent: b, default: true }, { agent: b, default: true }] }")).found).toEqual([
      "agents/a.agent.yaml:6 ‹default› error: a chain has one default at most: keep one",
    ]);
    expect((await chain('{ on_complete: [{ agent: b, default: true, when: "{{ x }}" }] }')).found).toEqual([
      "agents/a.agent.yaml:6 ‹when› error: a default has no when: leave one of the two out",
    ]);
    expect(
      (await chain('{ mode: parallel, on_complete: [{ agent: b, when: "{{ steps.b.output }}" }] }')).found,
    ).toEqual([
      'agents/a.agent.yaml:6 ‹"{{ steps.b.output }}"› error: in a parallel chain no link sees another\'s result: write mode: sequential',
    ]);
  });

  it("are too many to be looked through slowly: a hundred that all call the next", async () => {
    const specs = Object.fromEntries(
      Array.from({ length: 100 }, (_, i) => [
        `n${i}`,
        i < 99 ? asks(...Array.from({ length: Math.min(5, 99 - i) }, (_x, j) => `n${i + j + 1}`)) : "",
      ]),
    );
    const { agents } = await load(files(specs));
    expect(agents.size).toBe(6);
  });
});
