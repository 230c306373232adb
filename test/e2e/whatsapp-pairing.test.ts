import { once } from "node:events";
import type { Browser, Page } from "playwright-core";
import { toString as drawQr } from "qrcode";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FakeOpenAi, startFakeOpenAi } from "../fakes/openai/index.js";
import { type FakeWhatsappWeb, startFakeWhatsappWeb } from "../fakes/whatsapp-web/index.js";
import { openBrowser } from "../fixtures/browser.js";
import { cobranzasAgent, praxisConnections, praxisManifest, storyModel } from "../fixtures/cobranzas.js";
import { eventually, type Gateway, type Installation, install } from "../fixtures/gateway.js";

interface Account {
  readonly state: string;
  readonly reason?: string;
  readonly qr?: string;
  readonly pairing_code?: string;
}

describe("linking a WhatsApp account", () => {
  let model: FakeOpenAi;
  let web: FakeWhatsappWeb;
  let place: Installation;
  let dale: Gateway;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    [model, web, browser] = await Promise.all([
      startFakeOpenAi({ script: storyModel }),
      startFakeWhatsappWeb(),
      openBrowser(),
    ]);
    place = await install({
      config: {
        channels: {
          whatsapp: [{ name: "shop", agent: "cobranzas", socket_url: web.url, pacing: "off" }],
          webchat: [{ name: "web", agent: "cobranzas" }],
        },
      },
      agents: { cobranzas: cobranzasAgent(model.url) },
      integrations: { praxis: praxisManifest },
      connections: praxisConnections("http://127.0.0.1:9"),
    });
    dale = await place.start();
    page = await browser.newPage();
  });
  afterAll(async () => {
    await browser.close();
    await dale.stop();
    await Promise.all([model.stop(), web.close()]);
    await place.remove();
  });

  const authorization = () => ({ authorization: `Bearer ${place.token}` });
  const account = async (): Promise<Account> => {
    const response = await fetch(`${place.url}/v1/channels`, { headers: authorization() });
    const { items } = (await response.json()) as { items: (Account & { channel: string })[] };
    const found = items.find(({ channel }) => channel === "whatsapp");
    if (!found) throw new Error("no such account");
    return found;
  };
  const becomes = (state: string) =>
    eventually(async () => ((await account()).state === state ? account() : undefined));
  const loggedOut = async () => {
    web.logOut();
    expect((await becomes("stopped")).reason).toMatch(/^Logged out on the phone on .*: pair again\./);
  };

  it("works from the terminal, with a code to scan", async () => {
    const terminal = place.launch(["pair", "whatsapp:shop"]);
    const ended = once(terminal.process, "close");
    const { qr } = await eventually(async () => ((await account()).qr === undefined ? undefined : account()));
    if (qr === undefined) throw new Error("no code");
    const drawn = await drawQr(qr, { type: "terminal", small: true });
    await eventually(() => terminal.output().includes(drawn));
    web.scan(qr);
    expect((await ended)[0]).toBe(0);
    expect(terminal.output()).toContain("whatsapp:shop is linked.");
    expect(terminal.output()).not.toContain(qr);
    const again = await place.run(["pair", "whatsapp:shop"]);
    expect(again.output).toContain("linked already");
    expect(again.code).toBe(0);
  });

  it("works from the terminal, with a code to type", async () => {
    await loggedOut();
    const terminal = place.launch(["pair", "whatsapp:shop", "--phone", "+54 9 11 5555-0000"]);
    const ended = once(terminal.process, "close");
    const { pairing_code: typed } = await eventually(async () =>
      (await account()).pairing_code === undefined ? undefined : account(),
    );
    if (typed === undefined) throw new Error("no code");
    await eventually(() => terminal.output().includes(`Type: ${typed.slice(0, 4)}-${typed.slice(4)}`));
    await web.enterCode(typed);
    expect((await ended)[0]).toBe(0);
    expect(terminal.output()).toContain("whatsapp:shop is linked.");
    expect(dale.output()).not.toContain(typed);
    expect(dale.output()).not.toContain("5491155550000");
  });

  it("says from the terminal why it cannot be done", async () => {
    const refused = async (words: readonly string[], message: string) => {
      const { code, output } = await place.run(["pair", ...words]);
      expect(output).toContain(message);
      expect(code).toBe(1);
    };
    await refused(["whatsapp:shop", "--url", "http://127.0.0.1:9"], "Start it first");
    await refused(["whatsapp:other"], "no account whatsapp:other");
    await refused(["whatsapp:shop", "--token", "wrong"], "Bearer");
  });

  it("works on a page, which only operators see", async () => {
    await loggedOut();
    await page.goto(`${place.url}/pair/whatsapp/shop`);
    expect(page.url()).toBe(`${place.url}/sign-in`);
    expect((await fetch(`${place.url}/pair/whatsapp/shop/qr.svg`)).status).toBe(401);
    await page.getByLabel("Token of this Dale").fill(place.token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(`${place.url}/`);

    await page.goto(`${place.url}/pair/whatsapp/shop`);
    await page.getByText("Stopped").waitFor();
    await page.getByText(/^Logged out on the phone/).waitFor();
    await page.getByRole("button", { name: "Show a QR code" }).click();
    await page.getByAltText("QR code to link the account").waitFor();
    const { qr } = await account();
    if (qr === undefined) throw new Error("no code");
    const drawn = await fetch(`${place.url}/pair/whatsapp/shop/qr.svg`, { headers: authorization() });
    expect(drawn.headers.get("content-type")).toBe("image/svg+xml");
    expect(await drawn.text()).toBe(await drawQr(qr, { type: "svg", margin: 2 }));
    web.scan(qr);
    await page.getByText("Linked", { exact: true }).waitFor();
    expect(await page.getByAltText("QR code to link the account").isVisible()).toBe(false);
  });

  it("shows a code to type on the page, too, and what went wrong", async () => {
    await loggedOut();
    await page.getByText("Stopped").waitFor();
    await page.getByLabel("Or get a code to type").fill("12");
    await page.getByRole("button", { name: "Get a code" }).click();
    await page.getByText(/country code/).waitFor();
    await page.getByLabel("Or get a code to type").fill("5491155550000");
    await page.getByRole("button", { name: "Get a code" }).click();
    await page.getByRole("heading", { name: "Type this on the phone" }).waitFor();
    const { pairing_code: typed = "" } = await account();
    expect((await page.locator("#code").textContent())?.replace("-", "")).toBe(typed);
    await web.enterCode(typed);
    await page.getByText("Linked", { exact: true }).waitFor();
  });

  it("is offered for no account that is not linked this way", async () => {
    for (const path of ["/pair/webchat/web", "/pair/whatsapp/other", "/pair/telegram/bot"]) {
      const response = await fetch(`${place.url}${path}`, { headers: authorization() });
      expect(response.status).toBe(404);
    }
    const post = (path: string, body: string, headers = authorization()) =>
      fetch(`${place.url}${path}`, { method: "POST", body, headers });
    expect((await post("/v1/channels/webchat/web/pair", "{}")).status).toBe(404);
    expect((await post("/v1/channels/whatsapp/shop/pair", "{}")).status).toBe(409);
    expect((await post("/v1/channels/whatsapp/shop/pair", '{"phone":7}')).status).toBe(400);
    expect((await post("/v1/channels/whatsapp/shop/pair", "{}", { authorization: "" })).status).toBe(401);
  });
});
