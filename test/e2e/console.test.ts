import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FakeBackend, startBackend } from "../fakes/backend/index.js";
import { type FakeOpenAi, startFakeOpenAi } from "../fakes/openai/index.js";
import { openBrowser } from "../fixtures/browser.js";
import {
  cobranzasAgent,
  praxisConnections,
  praxisManifest,
  storyModel,
  storyNotice,
  storyQuestion,
} from "../fixtures/cobranzas.js";
import { eventually, type Gateway, type Installation, install } from "../fixtures/gateway.js";

let backend: FakeBackend;
let model: FakeOpenAi;
let place: Installation;
let dale: Gateway;
let browser: Browser;
let page: Page;

const run = async (query: string) => {
  const response = await fetch(`${place.url}/v1/agents/cobranzas/run`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${place.token}` },
    body: JSON.stringify({ query, session_id: "console" }),
  });
  return (await response.json()) as { answer: string };
};

beforeAll(async () => {
  [backend, model, browser] = await Promise.all([
    startBackend(),
    startFakeOpenAi({ script: storyModel }),
    openBrowser(),
  ]);
  place = await install({
    config: { channels: { webchat: [{ name: "web", agent: "cobranzas" }] } },
    agents: { cobranzas: cobranzasAgent(model.url) },
    integrations: { praxis: praxisManifest },
    connections: praxisConnections(backend.url),
  });
  dale = await place.start();
  page = await browser.newPage();
});
afterAll(async () => {
  await browser.close();
  await dale.stop();
  await Promise.all([backend.close(), model.stop()]);
  await place.remove();
});

describe("the console", () => {
  it("is closed to whoever does not know the token", async () => {
    await page.goto(`${place.url}/`);
    expect(page.url()).toBe(`${place.url}/sign-in`);
    await page.getByLabel("Token of this Dale").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    await page.goto(`${place.url}/queues`);
    expect(page.url()).toBe(`${place.url}/sign-in`);
  });

  it("shows a conversation as a story: message, call, proposal, notice, yes, execution", async () => {
    expect((await run(storyQuestion)).answer).toContain(storyNotice);
    await run("dale");
    await page.goto(`${place.url}/sign-in`);
    await page.getByLabel("Token of this Dale").fill(place.token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: /api:cobranzas:console/ }).click();
    const story = page.locator("#story");
    await story.getByText("Executed", { exact: true }).waitFor();
    const words = await story.locator("li").allInnerTexts();
    const places = [
      storyQuestion,
      "praxis_buscar_records",
      "Proposed",
      storyNotice,
      "Notice delivered",
      "Yes",
      "Executed",
    ].map((word) => words.findIndex((line) => line.includes(word)));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places).not.toContain(-1);
    await page.getByText("webchat:web").waitFor();
    await page.getByText("Everything is running.").waitFor();
  });

  it("puts an execution that nobody saw the end of first, and lets the operator settle it", async () => {
    await run(storyQuestion);
    backend.misbehave({ kind: "reset_after" });
    const { answer } = await run("dale");
    backend.behave();
    expect(answer).toContain("praxis_crear_record");
    const open = page.locator("#unsettled");
    await open.getByText(storyNotice).waitFor();
    await open.getByLabel("How do you know?").fill("Looked into the books.");
    await open.getByRole("button", { name: "It was executed" }).click();
    await open.waitFor({ state: "hidden" });
    const response = await fetch(`${place.url}/v1/evidence?session=console`, {
      headers: { authorization: `Bearer ${place.token}` },
    });
    const { items } = (await response.json()) as { items: Record<string, string>[] };
    expect(items.at(-1)).toMatchObject({ type: "executed", comment: "Looked into the books." });
  });

  it("shows the queues, and what people wrote in none of them", async () => {
    await page.goto(`${place.url}/queues/queue/inbound?status=completed`);
    await page.getByText("inbound").first().waitFor();
    const jobs = await eventually(async () => {
      const response = await page.request.get(
        `${place.url}/queues/api/queues?activeQueue=inbound&status=completed&page=1`,
      );
      return response.ok() ? response.text() : undefined;
    });
    expect(jobs).toContain("cobranzas");
    expect(jobs).not.toContain("customer 42");
    expect(jobs).not.toContain('dale"');
  });

  it("fits a phone", async () => {
    await page.setViewportSize({ width: 360, height: 700 });
    await page.goto(`${place.url}/`);
    await page.getByText("Everything is running.").waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(wide).toBe(false);
  });
});
