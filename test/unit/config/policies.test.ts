import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { boot, report } from "../../../src/app/index.js";
import { praxisManifest } from "../../fixtures/cobranzas.js";
import { folder } from "../../fixtures/folder.js";

const agent = {
  apiVersion: "astromesh/v1",
  kind: "Agent",
  metadata: { name: "cobranzas" },
  spec: {
    model: { primary: { provider: "ollama", model: "m" } },
    tools: [
      {
        name: "praxis",
        type: "integration",
        connection: "praxis_main",
        actions: ["buscar_records", "crear_record"],
        confirm: ["crear_record"],
      },
    ],
  },
};

async function check(policies: string, config = "", env: Readonly<Record<string, string>> = {}) {
  const root = await folder({
    "dale.yaml": `agents: agents\nintegrations: integrations\npolicies: rules.yaml\n${config}`,
    "rules.yaml": policies,
    "agents/a.agent.yaml": JSON.stringify(agent),
    "integrations/p.integration.yaml": JSON.stringify(praxisManifest),
    "connections.yaml": "praxis_main: { base_url: http://127.0.0.1:9, token: t }\n",
  });
  const booted = await boot(join(root, "dale.yaml"), env);
  const { lines, refused } = report(booted, false);
  return { lines: lines.filter((line) => line.startsWith("rules.yaml")), refused, booted };
}

describe("the rules at boot", () => {
  it("are loaded with the rest", async () => {
    const { booted, lines, refused } = await check("require_confirmation: [{ tools: [praxis_crear_*] }]");
    expect({ lines, refused }).toEqual({ lines: [], refused: false });
    expect(booted.ok && booted.loaded.policies?.rules).toHaveLength(1);
  });

  it("refuse the start when they are bad", async () => {
    const { lines, refused } = await check("require_confirmation:\n  - tools: [a]\n    when: amount >\n");
    expect(lines).toEqual([`rules.yaml:3:11: error: "when" must end with a number, or text in quotes`]);
    expect(refused).toBe(true);
  });

  it("warn of a pattern that fits no tool", async () => {
    const { lines, refused } = await check("require_confirmation:\n  - tools: [praxis_crear_record, praxis_craer_*]\n");
    expect(lines).toEqual(["rules.yaml:2:34: warning: fits no tool of any agent or workflow"]);
    expect(refused).toBe(false);
  });

  it("warn of a rule that nothing here could ever satisfy", async () => {
    const rule = "require_confirmation:\n  - tools: [praxis_*]\n";
    const starved = "nothing here records what it accepts, so every call";
    expect((await check(rule)).lines).toEqual([
      `rules.yaml:2:5: warning: has no data for praxis_buscar_records: ${starved} is refused`,
    ]);
    expect((await check(`${rule}    mode: observe\n`)).lines).toEqual([
      `rules.yaml:2:5: warning: has no data for praxis_buscar_records: ${starved} would be refused`,
    ]);
    expect((await check(`${rule}    accept: { kinds: [identity_verified] }\n`)).lines).toEqual([
      `rules.yaml:2:5: warning: has no data for praxis_buscar_records, praxis_crear_record: ${starved} is refused`,
    ]);
  });

  it("do not, where a reviewer may be asked, or an app may record what it likes", async () => {
    const rule = "require_confirmation:\n  - tools: [praxis_*]\n";
    expect((await check(`${rule}    on_missing: request_approval\n`)).lines).toEqual([]);
    expect((await check(rule, "redis: { url: redis://127.0.0.1:6379 }\n")).lines).toEqual([]);
  });

  it("warn that none has data while the ledger is off", async () => {
    const off = await check("require_confirmation: [{ tools: [praxis_crear_*] }]", "", {
      DALE_CONFIRMATION_LEDGER: "off",
    });
    expect(off.lines).toEqual([
      "rules.yaml:1:23: warning: the ledger is off (DALE_CONFIRMATION_LEDGER=off): no rule has data, and none blocks anything",
    ]);
  });
});
