import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cobranzasAgent, praxisConnections, praxisManifest } from "../fixtures/cobranzas.js";
import { type Installation, install } from "../fixtures/gateway.js";

describe("the command line", () => {
  let place: Installation;
  beforeAll(async () => {
    place = await install({
      config: { redis: { url: "redis://127.0.0.1:1" }, channels: { webchat: [{ name: "web", agent: "cobranzas" }] } },
      agents: { cobranzas: cobranzasAgent("http://127.0.0.1:1/v1") },
      integrations: { praxis: praxisManifest },
      connections: praxisConnections("http://127.0.0.1:1"),
      more: { "bad.yaml": "http:\n  port: eighty\n" },
    });
  });
  afterAll(() => place.remove());

  it("says its version", async () => {
    const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
    expect(await place.run(["--version"])).toEqual({ code: 0, output: `${version}\n` });
  });

  it("says what it can do", async () => {
    const { code, output } = await place.run(["--help"]);
    expect(code).toBe(0);
    for (const command of ["start", "check", "doctor", "chat", "pair", "mcp", "policy", "evidence"]) {
      expect(output).toMatch(new RegExp(`^  ${command}\\b`, "m"));
    }
  });

  it("says what is wrong with a command", async () => {
    const { code, output } = await place.run(["begin"]);
    expect(code).toBe(1);
    expect(output).toContain("unknown command 'begin'");
    expect(output).toContain("Usage: dale");
  });

  it("checks an installation without starting anything, and says where a mistake is", async () => {
    expect(await place.run(["check"])).toMatchObject({ code: 0 });
    const { code, output } = await place.run(["check", "--config", "bad.yaml"]);
    expect(code).toBe(2);
    expect(output).toMatch(/bad\.yaml:2:9: error: /);
  });
});
