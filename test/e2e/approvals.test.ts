import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ApprovalRejectedError, checkToolCall, createLedger, type Ledger } from "../../src/app/ledger.js";
import { type FakeBackend, startBackend } from "../fakes/backend/index.js";
import { type FakeAnswer, type FakeOpenAi, type FakeRequest, startFakeOpenAi } from "../fakes/openai/index.js";
import { type FakeBot, type FakeBotApi, startFakeBotApi } from "../fakes/telegram-bot-api/index.js";
import { openBrowser } from "../fixtures/browser.js";
import { cobranzasAgent, praxisConnections, praxisManifest } from "../fixtures/cobranzas.js";
import { eventually, type Gateway, type Installation, install } from "../fixtures/gateway.js";
import { type RedisServer, startRedisServer } from "../fixtures/redis-server.js";

const plan = { entidad: "cob_acuerdo", cuotas: 3, monto: 184000 };
const shown = "praxis_crear_record con entidad: cob_acuerdo, cuotas: 3, monto: 184000";
const asked = `Esto lo tiene que aprobar otra persona, y todavía no se hizo: ${shown}. Te aviso cuando lo decida.`;

/** Calls the write that it is asked for: `write <JSON>`, and says one word about it. */
function writer(request: FakeRequest): FakeAnswer {
  const wanted = /^write (\{.*\})$/s.exec(request.user)?.[1];
  if (wanted === undefined) return { text: `You said: ${request.user}` };
  if (request.result !== undefined) return { text: /refused/.test(request.result) ? "I may not." : "Asked." };
  return { calls: [{ name: "praxis_crear_record", arguments: JSON.parse(wanted) }] };
}

const rules = {
  require_confirmation: [
    { tools: ["praxis_crear_*"], when: "monto > 1000", on_missing: "request_approval" },
    { tools: ["praxis_crear_*"], when: "nota == blocked", message: "Ask the office." },
    { tools: ["praxis_*"], when: "entidad == cob_acuerdo", mode: "observe" },
  ],
};

let redis: RedisServer;
let backend: FakeBackend;
let model: FakeOpenAi;
let telegram: FakeBotApi;
let bot: FakeBot;
let place: Installation;
let front: Gateway;
let worker: Gateway;

beforeAll(async () => {
  [redis, backend, model, telegram] = await Promise.all([
    startRedisServer(),
    startBackend(),
    startFakeOpenAi({ script: writer }),
    startFakeBotApi(),
  ]);
  bot = telegram.bot();
  const tools = [
    { name: "praxis", type: "integration", connection: "praxis_main", actions: ["buscar_records", "crear_record"] },
  ];
  place = await install({
    config: {
      redis: { url: redis.url },
      policies: "policies.yaml",
      channels: {
        telegram: [
          {
            name: "bot",
            agent: "cobranzas",
            token: bot.token,
            api_root: telegram.url,
            limits: { account: "off", chat: "off" },
          },
        ],
      },
    },
    agents: { cobranzas: cobranzasAgent(model.url, { tools }) },
    integrations: { praxis: praxisManifest },
    connections: praxisConnections(backend.url),
    more: { "policies.yaml": JSON.stringify(rules) },
  });
  front = await place.start({ roles: "ingress,sender,http" });
});
afterAll(async () => {
  await front.stop();
  await Promise.all([backend.close(), model.stop(), telegram.close()]);
  await redis.remove();
  await place.remove();
});
let written: number;
beforeEach(async () => {
  written = backend.writes.length;
  worker = await place.start({ roles: "worker" });
});
afterEach(async () => {
  backend.behave();
  await worker.stop();
  expect(front.output() + worker.output()).not.toContain("184000");
});

const headers = () => ({ "content-type": "application/json", authorization: `Bearer ${place.token}` });
const get = async (path: string) => {
  const response = await fetch(`${place.url}${path}`, { headers: headers() });
  return { status: response.status, body: (await response.json()) as Record<string, never> & { items: Item[] } };
};
const post = async (path: string, body?: unknown) => {
  const init = { method: "POST", headers: headers(), ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const response = await fetch(`${place.url}${path}`, init);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
type Item = Record<string, string>;

/** Somebody who asks the agent for a write in a chat of their own. */
function person() {
  const { user, chat } = bot.person();
  const session = `telegram:bot:${chat.id}:${user.id}`;
  const texts = () => bot.sent.filter((message) => message.chat.id === chat.id).map(({ text }) => text);
  return {
    session,
    texts,
    says: (text: string) => bot.message(chat, { from: user, text }),
    hears: (n: number) => eventually(() => texts()[n - 1], 30_000),
    waiting: () =>
      eventually(async () => (await get("/v1/approvals")).body.items.find((item) => item.session === session)),
    evidence: async () => {
      const { body } = await get(`/v1/evidence?session=${encodeURIComponent(session)}`);
      return body.items.map(({ type }) => type);
    },
  };
}

describe("a call that a rule leaves to a reviewer", () => {
  it("runs once after the reviewer's yes, and the person is told", async () => {
    const ana = person();
    ana.says(`write ${JSON.stringify(plan)}`);
    expect(await ana.hears(1)).toBe(`Asked.\n\n${asked}`);
    const item = await ana.waiting();
    expect(item).toMatchObject({
      tool: "praxis_crear_record",
      session: ana.session,
      agent: "cobranzas",
      shows: "praxis_crear_record with cuotas: 3, entidad: cob_acuerdo, monto: 184000",
      args: plan,
      from: "conversation",
      state: "waiting",
    });
    expect(backend.writes.length).toBe(written);

    const path = `/v1/approvals/${item.id}/approve`;
    const decisions = await Promise.all([
      post(path, { comment: "looks right", reviewer: "Berta" }),
      post(path, { comment: "looks right", reviewer: "Berta" }),
    ]);
    expect(decisions.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect((await post(`/v1/approvals/${item.id}/reject`, { comment: "no", reviewer: "Carla" })).status).toBe(409);
    expect(await ana.hears(2)).toBe(`Se aprobó y quedó hecho: ${shown}.`);
    expect(backend.writes.slice(written).map(({ body }) => JSON.parse(body))).toEqual([plan]);
    expect(await ana.evidence()).toEqual(["proposed", "granted", "consumed", "executed"]);
    const { body } = await get(`/v1/approvals/${item.id}`);
    expect(body).toMatchObject({ state: "approved", reviewer: "Berta", comment: "looks right", result: "executed" });
  });

  it("does not run after a no", async () => {
    const ana = person();
    ana.says(`write ${JSON.stringify(plan)}`);
    const item = await ana.waiting();
    expect((await post(`/v1/approvals/${item.id}/reject`, { reviewer: "Berta", comment: "" })).status).toBe(200);
    await eventually(() => ana.texts().find((text) => text === `No se aprobó, así que no se hizo: ${shown}.`));
    expect(backend.writes.length).toBe(written);
    expect((await get("/v1/approvals?state=over")).body.items[0]).toMatchObject({ id: item.id, state: "rejected" });
  });

  it("is told in order with what the person says meanwhile", async () => {
    const ana = person();
    ana.says(`write ${JSON.stringify(plan)}`);
    const item = await ana.waiting();
    ana.says("and?");
    await ana.hears(2);
    await post(`/v1/approvals/${item.id}/approve`, { reviewer: "Berta" });
    await ana.hears(3);
    ana.says("thanks");
    await ana.hears(4);
    expect(ana.texts().slice(1)).toEqual(["You said: and?", `Se aprobó y quedó hecho: ${shown}.`, "You said: thanks"]);
  });

  it("is unknown when its worker is killed in its middle: never repeated, and told", async () => {
    const ana = person();
    ana.says(`write ${JSON.stringify(plan)}`);
    const item = await ana.waiting();
    const received = backend.received.length;
    backend.misbehave({ kind: "hang" });
    await post(`/v1/approvals/${item.id}/approve`, { reviewer: "Berta" });
    await eventually(() => backend.received.length > received || undefined);
    await worker.kill();
    backend.behave();
    worker = await place.start({ roles: "worker" });
    expect(await ana.hears(2)).toContain("no sé si llegó a hacerse");
    expect(backend.received.slice(received)).toHaveLength(1);
    expect((await get("/v1/unsettled")).body.items.map(({ proposal }) => proposal)).toContain(item.id);
    expect((await post(`/v1/unsettled/${item.id}`, { result: "executed", comment: "seen" })).status).toBe(200);
    expect(await ana.evidence()).toEqual(["proposed", "granted", "consumed", "unknown", "executed"]);
  });

  it("runs although no worker was there when it was approved", async () => {
    const ana = person();
    ana.says(`write ${JSON.stringify(plan)}`);
    const item = await ana.waiting();
    await worker.kill();
    await post(`/v1/approvals/${item.id}/approve`, { reviewer: "Berta" });
    worker = await place.start({ roles: "worker" });
    expect(await ana.hears(2)).toBe(`Se aprobó y quedó hecho: ${shown}.`);
    expect(backend.writes.length).toBe(written + 1);
  });

  it("comes back to the API's caller by its id", async () => {
    const query = `write ${JSON.stringify({ ...plan, cuotas: 7 })}`;
    const { body } = await post("/v1/agents/cobranzas/run", { query, session_id: "api" });
    expect(body.answer).toContain("Esto lo tiene que aprobar otra persona");
    expect(body.approvals).toMatchObject([{ id: expect.stringMatching(/^apr-/), tool: "praxis_crear_record" }]);
    const [{ id }] = body.approvals as [{ id: string }];
    await post(`/v1/approvals/${id}/approve`, { reviewer: "Berta" });
    await eventually(async () => (await get(`/v1/approvals/${id}`)).body.result === "executed" || undefined);
    expect(backend.writes.length).toBe(written + 1);
  });
});

describe("the other rules", () => {
  it("refuse a call with the operator's words, and count what an observed one would have stopped", async () => {
    const small = { entidad: "cob_acuerdo", monto: 5, nota: "blocked" };
    const { body } = await post("/v1/agents/cobranzas/run", {
      query: `write ${JSON.stringify(small)}`,
      session_id: "r",
    });
    expect(body.answer).toBe("I may not.");
    expect(model.requests.at(-1)?.result).toContain("Ask the office.");
    expect(backend.writes.length).toBe(written);
    const free = { entidad: "cob_acuerdo", monto: 5 };
    await post("/v1/agents/cobranzas/run", { query: `write ${JSON.stringify(free)}`, session_id: "r" });
    expect(backend.writes.length).toBe(written + 1);
    const { items } = (await get("/v1/policies")).body;
    expect(items.map(({ mode }) => mode)).toEqual(["enforce", "enforce", "observe"]);
    expect(items[1]).toMatchObject({ stopped: 1, checked: 1, counts: { no_match: 1 } });
    expect(Number(items[2]?.stopped)).toBeGreaterThan(1);
    const metrics = await (await fetch(`${place.url}/metrics`, { headers: headers() })).text();
    expect(metrics).toContain("dale_approvals_total");
  });

  it("take what an app recorded for the session in the same Redis, once", async () => {
    const args = { entidad: "x", monto: 5, nota: "blocked" };
    const app = createLedger({ redis: { url: redis.url } });
    await app.withContext({ sessionId: "api:cobranzas:app" }, () =>
      app.confirmToolCall({ toolName: "praxis_crear_record", args }),
    );
    const query = `write ${JSON.stringify(args)}`;
    const answers = [];
    for (let n = 0; n < 2; n++) {
      answers.push((await post("/v1/agents/cobranzas/run", { query, session_id: "app" })).body.answer);
    }
    expect(answers).toEqual(["Asked.", "I may not."]);
    expect(backend.writes.length).toBe(written + 1);
    await app.close();
  });

  it("can be tried on recorded calls", async () => {
    const { writeFile } = await import("node:fs/promises");
    const lines = [
      { type: "call", tool: "praxis_crear_record", args: plan, session: "s" },
      {
        type: "confirmation",
        tool: "praxis_crear_record",
        args: plan,
        kind: "human_review",
        actor_role: "reviewer",
        session: "s",
      },
      { type: "call", tool: "praxis_crear_record", args: plan, session: "s" },
    ];
    await writeFile(`${place.dir}/calls.jsonl`, lines.map((line) => JSON.stringify(line)).join("\n"));
    const words = ["--policies", `${place.dir}/policies.yaml`, "--calls", `${place.dir}/calls.jsonl`];
    const { code, output } = await place.run(["policy", "test", ...words]);
    expect(code).toBe(0);
    expect(output).toContain("2 calls, 1 confirmations.");
    expect(output).toContain("rule 1 (praxis_crear_*): stops 1 of 2");
    expect(output).toContain("line 1: praxis_crear_record: no_match");
    expect(output).toContain("rule 3 (praxis_*): would stop (observe) 2 of 2");
    const bad = await place.run(["policy", "test", "--policies", `${place.dir}/calls.jsonl`, "--calls", "x"]);
    expect(bad.code).toBe(2);
  });
});

describe("an app that asks a reviewer", () => {
  const reviewed = {
    require_confirmation: [
      { tools: ["wire_money"], accept: { kinds: ["human_review" as const], roles: ["reviewer" as const] } },
    ],
  };
  const args = { to: "ES12", amount: 9000 };
  const own = () =>
    eventually(async () => (await get("/v1/approvals")).body.items.find(({ tool }) => tool === "wire_money"));
  const ledgers = {
    "over the gateway's API": () => createLedger({ gateway: { url: place.url, token: place.token } }),
    "in the gateway's Redis": () => createLedger({ redis: { url: redis.url } }),
  };
  let ledger: Ledger | undefined;
  afterEach(() => ledger?.close());

  it.each(Object.entries(ledgers))("gets their yes, which unlocks the call, %s", async (_, open) => {
    ledger = open();
    const app = ledger;
    await app.withContext({ sessionId: "job-7" }, async () => {
      const check = (policies: Parameters<typeof checkToolCall>[1]["policies"]) =>
        checkToolCall({ toolName: "wire_money", args }, { ledger: app, policies });
      const answer = app.awaitApproval("wire_money", args, { timeoutMs: 20_000 });
      const item = await own();
      expect(item).toMatchObject({ from: "app", session: "job-7", shows: "wire_money with amount: 9000, to: ES12" });
      await post(`/v1/approvals/${item.id}/approve`, { reviewer: "Berta", comment: "called them" });
      expect(await answer).toMatchObject({ id: item.id, reviewer: "Berta", comment: "called them" });
      expect(await check({ require_confirmation: [{ tools: ["wire_money"] }] })).toMatchObject({
        allowed: false,
        reason: "kind_not_accepted",
      });
      expect(await check(reviewed)).toMatchObject({ allowed: true, reason: "confirmed" });
      expect(await check(reviewed)).toMatchObject({ allowed: false, reason: "already_used" });
      const { body } = await get("/v1/evidence?session=job-7");
      const told = body.items.filter(({ proposal }) => proposal === item.id);
      expect(told.map(({ type, session }) => [type, session])).toEqual([
        ["proposed", "job-7"],
        ["granted", "job-7"],
      ]);
      expect(told[0]).toMatchObject({ shows: "wire_money with amount: 9000, to: ES12", expiresAt: expect.any(Number) });
      const { output } = await place.run(["evidence", "export", "--format", "html", "--proposal", item.id ?? ""]);
      expect(output).toContain("A quien preguntó se le dijo que sí");
      expect(output).toContain("<dd><bdi>9000</bdi></dd>");
    });
  });

  it("has its evidence erased by the name that it gave, as an API caller has", async () => {
    await post("/v1/agents/cobranzas/run", { query: `write ${JSON.stringify(plan)}`, session_id: "gone" });
    const { body: asked } = await post("/v1/approvals", { session: "gone", tool: "wire_money", args });
    await post(`/v1/approvals/${asked.id}/withdraw`, {});
    const listed = (await get("/v1/evidence?session=gone")).body.items;
    expect(new Set(listed.map(({ session }) => session))).toEqual(new Set(["api:cobranzas:gone", "gone"]));
    expect(listed.map(({ at }) => at)).toEqual(listed.map(({ at }) => at).toSorted());
    expect((await post("/v1/evidence/erase", { session: "gone" })).body).toEqual({ erased: true });
    expect((await get("/v1/evidence?session=gone")).body.items).toEqual([]);
    expect((await post("/v1/evidence/erase", { session: "gone" })).body).toEqual({ erased: false });
  });

  it.each(Object.entries(ledgers))("gets their no, or none at all, %s", async (_, open) => {
    ledger = open();
    const answer = ledger.awaitApproval("wire_money", args, { sessionId: "job-8", timeoutMs: 20_000 });
    const item = await own();
    await post(`/v1/approvals/${item.id}/reject`, { reviewer: "Berta", comment: "whose account?" });
    const error = await answer.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApprovalRejectedError);
    expect(error).toMatchObject({
      code: "approval_rejected",
      decision: { reviewer: "Berta", comment: "whose account?" },
    });

    const late = ledger.awaitApproval("wire_money", { ...args, n: 2 }, { sessionId: "job-8", timeoutMs: 700 });
    const unanswered = await own();
    await expect(late).rejects.toMatchObject({ name: "ApprovalTimeoutError", code: "approval_timeout" });
    expect((await post(`/v1/approvals/${unanswered.id}/approve`, { reviewer: "Berta" })).status).toBe(409);
  });

  it("is refused with a wrong token, and what cannot be shown is not asked", async () => {
    ledger = createLedger({ gateway: { url: place.url, token: "wrong" } });
    await expect(ledger.awaitApproval("wire_money", args)).rejects.toMatchObject({ code: "gateway_refused" });
    await expect(ledger.awaitApproval("wire_money", { at: new Date() })).rejects.toMatchObject({
      code: "approval_unavailable",
    });
    expect((await post("/v1/approvals", { tool: "", args })).status).toBe(400);
    for (const unnamed of [null, [1], "all of it"]) {
      const { status, body } = await post("/v1/approvals", { tool: "wire_money", args: unnamed });
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining("args")]);
    }
    expect((await post("/v1/approvals/apr-404/approve", {})).status).toBe(404);
    expect((await fetch(`${place.url}/v1/approvals`)).status).toBe(401);
  });
});

describe("the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  it("shows a reviewer exactly what will run, escaped, and takes their word and comment", async () => {
    const ana = person();
    const hidden = { ...plan, nota: "ok\u202egnp.exe <b>bold</b>" };
    ana.says(`write ${JSON.stringify(hidden)}`);
    await ana.waiting();
    const page = await browser.newPage();
    await page.goto(`${place.url}/sign-in`);
    await page.getByLabel("Token of this Dale").fill(place.token);
    await page.getByRole("button", { name: "Sign in" }).click();
    const approvals = page.locator("#approvals");
    const item = approvals.getByRole("listitem").filter({ hasText: ana.session });
    await item.waitFor();
    expect(await item.locator("strong").textContent()).toContain('nota: "ok\\u202Egnp.exe <b>bold</b>"');
    await item.getByLabel("Comment").fill("as agreed");
    await item.getByLabel("Your name").fill("Berta");
    await item.getByLabel("Comment").press("Enter");
    expect((await get("/v1/approvals")).body.items.map(({ session }) => session)).toContain(ana.session);
    await item.getByRole("button", { name: "Approve" }).click();
    await item.waitFor({ state: "detached" });
    await eventually(() => ana.texts().find((text) => text?.startsWith("Se aprobó y quedó hecho")));
    expect(backend.writes.slice(written).map(({ body }) => JSON.parse(body))).toEqual([hidden]);
    await page.getByRole("button", { name: ana.session }).click();
    await page.locator("#story").getByText("by Berta: as agreed").waitFor();
    await page.locator("#policies").getByText("would have stopped").waitFor();
    await page.setViewportSize({ width: 360, height: 700 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(false);
    await page.close();
  });
});
