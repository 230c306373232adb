import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadPolicies } from "../../src/app/ledger.js";
import { folder } from "../fixtures/folder.js";
import { type Gateway, type Installation, install } from "../fixtures/gateway.js";
import { type RedisServer, startRedisServer } from "../fixtures/redis-server.js";

const page = await readFile("docs/ledger.md", "utf8");
/** A page's programs, each with what the page says that it prints. */
const programs = [...page.matchAll(/```js\n([\s\S]*?)```\n```text\n([\s\S]*?)```/g)].map(
  ([, code = "", prints = ""]) => ({
    code,
    prints,
    title: /createLedger\([^)]*\)/.exec(code)?.[0] ?? "",
  }),
);
const block = (language: string) => new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? "";

let redis: RedisServer;
let place: Installation;
let dale: Gateway;
let reviewing: NodeJS.Timeout;

beforeAll(async () => {
  redis = await startRedisServer();
  place = await install({ config: { redis: { url: redis.url } } });
  dale = await place.start();
  // A reviewer who approves whatever is asked.
  const headers = { "content-type": "application/json", authorization: `Bearer ${place.token}` };
  reviewing = setInterval(async () => {
    const response = await fetch(`${place.url}/v1/approvals`, { headers }).catch(() => undefined);
    const { items = [] } = ((await response?.json()) ?? {}) as { items?: { id: string }[] };
    for (const { id } of items) {
      const body = JSON.stringify({ reviewer: "Berta", comment: "" });
      await fetch(`${place.url}/v1/approvals/${id}/approve`, { method: "POST", headers, body }).catch(() => undefined);
    }
  }, 200);
});
afterAll(async () => {
  clearInterval(reviewing);
  await dale.stop();
  await redis.remove();
  await place.remove();
});

describe("docs/ledger.md", () => {
  it("has programs", () => expect(programs).toHaveLength(4));

  it.each(programs)("prints what it says: $title", async ({ code, prints }) => {
    const env = { ...process.env, REDIS_URL: redis.url, DALE_URL: place.url, DALE_TOKEN: place.token };
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], { env });
    expect(stdout).toBe(prints);
  });

  it("shows rules that are valid, and recorded calls that can be replayed", async () => {
    const rules = "require_confirmation: [{ tools: [issue_refund] }]\n";
    const files = await folder({ "policies.yaml": block("yaml"), "rules.yaml": rules, "calls.jsonl": block("json") });
    expect((await loadPolicies(`${files}/policies.yaml`)).rules).toHaveLength(1);
    const words = ["--policies", `${files}/rules.yaml`, "--calls", `${files}/calls.jsonl`];
    const { code, output } = await place.run(["policy", "test", ...words]);
    expect(code).toBe(0);
    expect(output).toContain("stops 1 of 2\n  no_match: 1\n  confirmed: 1\n");
  });
});
