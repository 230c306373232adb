import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Pagination } from "../../../src/agents/spec/index.js";
import { createNetwork, type Network, type ToolResult } from "../../../src/agents/tools/index.js";
import { type FakeBackend, startBackend } from "../../fakes/backend/index.js";
import { actionTool, callContext, read } from "../../fixtures/tools.js";

let backend: FakeBackend;
let network: Network;
beforeEach(async () => {
  backend = await startBackend();
  network = createNetwork();
});
afterEach(async () => {
  await network.close();
  await backend.close();
});

const styles: readonly Pagination[] = [
  { style: "page", pageParam: "page", limitParam: "limit" },
  { style: "offset", offsetParam: "offset", limitParam: "limit" },
  { style: "cursor", cursorParam: "cursor", cursorPath: "meta.next", cursorIn: "query", limitParam: "limit" },
  { style: "link" },
];

function pager(pagination: Pagination, options = {}, auth = {}) {
  const limit = { name: "limit", schema: { type: "integer" }, required: false };
  const request = { method: "GET", path: `/pages/${pagination.style}`, query: {}, headers: {} } as const;
  return actionTool(
    read("", { request, pagination, select: "data.rows", parameters: [limit] }),
    { network, baseUrl: backend.url, options },
    auth,
  );
}

describe.each(styles)("pages by $style", (pagination) => {
  it("are joined into one list", async () => {
    const result = await pager(pagination).call({}, callContext());
    expect(numbers(result)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(cursorOf(result)).toBeUndefined();
  });

  it("are bounded, and the model can go on where they end", async () => {
    const tool = pager(pagination, { maxPages: 1 });
    expect(tool.check({ cursor: "x" })).toBeUndefined();
    const seen: number[][] = [];
    for (let cursor: string | undefined = "", calls = 0; cursor !== undefined && calls < 9; calls++) {
      const result = await tool.call(cursor === "" ? {} : { cursor }, callContext());
      seen.push(numbers(result));
      cursor = cursorOf(result);
    }
    expect(seen.flat()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(seen.length).toBeGreaterThanOrEqual(3);
  });

  it("stop where the next one would no longer fit whole, and name that one", async () => {
    const tool = pager(pagination, { maxChars: 60 });
    const first = await tool.call({}, callContext());
    expect(numbers(first)).toEqual([1, 2, 3, 4, 5]);
    const second = await tool.call({ cursor: cursorOf(first) ?? "" }, callContext());
    expect(numbers(second)[0]).toBe(6);
  });

  it("that came already are kept when the next one fails", async () => {
    const tool = pager(pagination);
    const first = tool.call({}, callContext());
    while (backend.received.length === 0) await new Promise((resolve) => setImmediate(resolve));
    backend.misbehave({ kind: "status", status: 500 }, 1);
    const result = await first;
    expect(numbers(result).slice(0, 5)).toEqual([1, 2, 3, 4, 5]);
    expect(result.content).toContain("the next page failed (http_500)");
    expect(cursorOf(result)).toBeDefined();
  });
});

describe("pages", () => {
  it("are asked for in the size that the model wants", async () => {
    const [byPage] = styles;
    if (byPage === undefined) throw new Error("no style");
    await pager(byPage).call({ limit: 6 }, callContext());
    expect(backend.received.map(({ target }) => target)).toEqual([
      "/pages/page?limit=6",
      "/pages/page?limit=6&page=2",
      "/pages/page?limit=6&page=3",
    ]);
  });

  it("put the cursor into the body where the server wants it there", async () => {
    const pagination = { style: "cursor", cursorParam: "cursor", cursorPath: "meta.next", cursorIn: "body" } as const;
    const request = {
      method: "POST",
      path: "/search",
      query: {},
      headers: {},
      body: { after: "{cursor}", q: 1 },
    } as const;
    backend.misbehave({ kind: "content", type: "application/json", body: '{"rows":[1],"meta":{"next":"c2"}}' }, 1);
    const tool = actionTool(read("", { request, pagination, select: "rows" }), { network, baseUrl: backend.url });
    await tool.call({}, callContext());
    expect(backend.received.map(({ body, target }) => [target, body])).toEqual([
      ["/search", '{"q":1}'],
      ["/search", '{"after":"c2","q":1}'],
    ]);
  });

  it("end where a server names the same cursor for ever", async () => {
    const pagination = { style: "cursor", cursorParam: "c", cursorPath: "next", cursorIn: "query" } as const;
    backend.misbehave({ kind: "content", type: "application/json", body: '{"rows":[1],"next":"same"}' });
    const tool = actionTool(read("/x", { pagination, select: "rows" }), { network, baseUrl: backend.url });
    expect(await tool.call({}, callContext())).toEqual({ ok: true, content: "[1,1]" });
  });

  it("of one answer that is no list are that answer", async () => {
    const pagination = { style: "page", pageParam: "page" } as const;
    backend.misbehave({ kind: "content", type: "application/json", body: '{"total":0}' });
    const tool = actionTool(read("/x", { pagination }), { network, baseUrl: backend.url });
    expect(await tool.call({}, callContext())).toEqual({ ok: true, content: '{"total":0}' });
    expect(backend.received).toHaveLength(1);
  });

  it("never lead a credential to another address by a link, nor show it to the model", async () => {
    const auth = { auth: { scheme: "query", credential: "api_key", paramName: "key" } as const };
    await pager({ style: "link" }, {}, auth).call({}, callContext());
    expect(backend.received).toHaveLength(3);
    for (const { target } of backend.received) expect(target.match(/key=/g)).toHaveLength(1);
  });
});

function numbers(result: ToolResult): number[] {
  const [rows = ""] = result.content.split("\n");
  return (JSON.parse(rows) as { n: number }[]).map(({ n }) => n);
}

function cursorOf(result: ToolResult): string | undefined {
  const quoted = /cursor ("(?:[^"\\]|\\.)*")\.\]$/.exec(result.content)?.[1];
  return quoted === undefined ? undefined : (JSON.parse(quoted) as string);
}
