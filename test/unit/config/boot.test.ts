import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { boot, report } from "../../../src/app/index.js";
import { folder } from "../../fixtures/folder.js";

const agent = (name: string, spec: string) =>
  `apiVersion: astromesh/v1\nkind: Agent\nmetadata: { name: ${name} }\nspec: { ${spec} }\n`;
const scripted = (script: string) => `model: { primary: { provider: scripted, script: ${script} } }`;
const script = `apiVersion: dale/v1
kind: Script
spec:
  languages: { en: { locale: en-US, words: [hi] } }
  default_language: en
  rules: [{ name: any, say: Hello. }]
`;

const check = async (files: Readonly<Record<string, string>>, strict = false) => {
  const root = await folder(files);
  const booted = await boot(join(root, "dale.yaml"), {});
  const { lines, refused } = report(booted, strict);
  return {
    lines,
    refused,
    agents: booted.ok ? booted.loaded.agents.map(({ name }) => name) : [],
    accounts: booted.ok ? booted.config.channels.map(({ name }) => name) : [],
  };
};

describe("the boot", () => {
  const config = "agents: agents\nchannels: { webchat: [{ name: one, agent: a }, { name: two, agent: b }] }\n";
  const place = `dale.yaml:2:${(config.split("\n")[1] ?? "").indexOf("b }]") + 1}`;
  const good = { "agents/s.script.yaml": script, "agents/a.agent.yaml": agent("a", scripted("s.script.yaml")) };

  it("goes on without a bad agent and the accounts that it should answer on, unless it is strict", async () => {
    const files = { ...good, "dale.yaml": config, "agents/b.agent.yaml": agent("b", "modle: 1") };
    const { lines, refused, agents, accounts } = await check(files);
    expect(lines).toEqual([
      'agents/b.agent.yaml:4:1: error: "model" is missing: write for example model: { primary: { provider: ollama, model: llama3.1 } }',
      'agents/b.agent.yaml:4:9: error: unknown key "modle": did you mean "model"?',
      `${place}: warning: the agent b is bad: this account is not started`,
    ]);
    expect({ refused, agents, accounts }).toEqual({ refused: false, agents: ["a"], accounts: ["one"] });
    expect((await check(files, true)).refused).toBe(true);
  });

  it("names an agent that is not there in a file that takes values from the environment", async () => {
    const text = "agents: agents\nhttp: { port: ${PORT:-8080} }\nchannels: { webchat: [{ name: one, agent: z }] }\n";
    const { lines, refused } = await check({ ...good, "dale.yaml": text });
    expect(lines).toEqual([expect.stringMatching(/^dale\.yaml:3:\d+: error: no agent is named z/)]);
    expect(refused).toBe(true);
  });

  it("leaves out what depends on an agent whose script is bad", async () => {
    const { refused, agents, lines } = await check({
      "dale.yaml": "agents: agents\n",
      "agents/s.script.yaml": "rules: 1\n",
      "agents/a.agent.yaml": agent("a", scripted("s.script.yaml")),
      "agents/b.agent.yaml": agent(
        "b",
        "model: { primary: { provider: ollama, model: m } }, tools: [{ name: x, type: agent, agent: a }]",
      ),
    });
    expect(agents).toEqual([]);
    expect(lines.find((line) => line.startsWith("agents/b"))).toMatch(/the agent "a" did not load: mend it first$/);
    expect(refused).toBe(false);
  });

  it("does not start with an account whose agent there is not", async () => {
    const { refused, lines } = await check({ ...good, "dale.yaml": config });
    expect(lines).toEqual([expect.stringContaining(`${place}: error: no agent is named b: name one of the files in `)]);
    expect(refused).toBe(true);
  });

  it("does not start with connections that cannot be read", async () => {
    const { refused, lines } = await check({
      ...good,
      "dale.yaml": "agents: agents\nconnections: c.yaml\n",
      "c.yaml": "main: { api_key: ${NOPE} }\n",
    });
    expect(lines).toEqual([
      "c.yaml:1:18: error: the environment has no variable NOPE: set it, or write ${NOPE:-default}",
    ]);
    expect(refused).toBe(true);
  });

  it("has nothing to say of the collections example", async () => {
    const booted = await boot("examples/cobranzas/dale.yaml", {});
    expect(report(booted, true)).toEqual({ lines: [], refused: false });
    expect(booted.ok && booted.config.channels).toMatchObject([
      { channel: "webchat", name: "web", agent: "cobranzas" },
    ]);
  });
});
