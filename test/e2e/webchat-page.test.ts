import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { openBrowser } from "../fixtures/browser.js";
import { openWebchatSite, type WebchatSite } from "../fixtures/webchat-site.js";

const notice =
  "Para confirmar respondé SI. Voy a ejecutar: praxis_crear_record con entidad: cob_acuerdo, cuotas: 3, monto: 184000";

let browser: Browser;
let site: WebchatSite;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
});
beforeEach(async () => {
  site = await openWebchatSite({ options: { title: "Cobranzas" } });
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await site.close();
});

/** A browser of somebody's own, on the page. Whatever the page complains of fails the test. */
async function visit(options: BrowserContextOptions & { readonly tolerate?: RegExp } = {}): Promise<Page> {
  const { tolerate, ...context } = options;
  const own = await browser.newContext({ locale: "es-AR", viewport: { width: 900, height: 700 }, ...context });
  closing.push(async () => {
    await own.close();
    expect(complaints).toEqual([]);
  });
  const complaints: string[] = [];
  own.on("weberror", (error) => complaints.push(String(error.error())));
  own.on("console", (message) => {
    if (message.type() === "error" && !tolerate?.test(message.text())) complaints.push(message.text());
  });
  own.on("request", (request) => {
    if (!request.url().startsWith(`${site.url}`)) complaints.push(`asked ${request.url()}`);
  });
  const page = await own.newPage();
  await enter(page);
  return page;
}

async function enter(page: Page): Promise<void> {
  await page.goto(site.url);
  await page.waitForSelector("body[data-line=open]");
}

const chatOf = (page: Page): Promise<string> =>
  page.evaluate(async () => {
    const response = await fetch("session", { method: "POST" });
    return ((await response.json()) as { chat: string }).chat;
  });

async function type(page: Page, text: string): Promise<void> {
  await page.fill("textarea", text);
  await page.press("textarea", "Enter");
}

const texts = (page: Page): Promise<string[]> =>
  page.$$eval(".text", (all) => all.map((each) => each.textContent ?? ""));

async function shows(page: Page, ...expected: readonly string[]): Promise<void> {
  await vi.waitFor(async () => expect(await texts(page)).toEqual(expected), { timeout: 10_000 });
}

async function state(page: Page, text: string, expected: string): Promise<void> {
  const states = () =>
    page.$$eval(
      ".own",
      (all, wanted) =>
        all
          .filter((each) => each.querySelector(".text")?.textContent === wanted)
          .map((each) => (each as HTMLElement).dataset.state),
      text,
    );
  await vi.waitFor(async () => expect(await states()).toEqual([expected]), { timeout: 10_000 });
}

async function told(ref: string, ...levels: readonly string[]): Promise<void> {
  const of = () => site.host.receipts.filter((receipt) => receipt.ref === ref).map(({ level }) => level);
  await vi.waitFor(() => expect(of()).toEqual(levels), { timeout: 10_000 });
}

async function sendNotice(chat: string): Promise<{ readonly ref: string; readonly order: number }> {
  const text = `Customer 42 owes $184,000.\n\n${notice}`;
  const id = site.adapter.newId?.() ?? "";
  const noticeFrom = text.length - notice.length;
  const result = await site.adapter.send({ chat, sender: chat, group: false, text, id, noticeFrom });
  if (result.status !== "accepted") throw new Error(result.status);
  return { ref: result.ref, order: result.order ?? Number.NaN };
}

describe("a conversation on the page", () => {
  it("shows what was typed, how far it got, that an answer is being written, and the answer", async () => {
    const page = await visit();
    await page.waitForSelector(".empty .start");
    await type(page, "how much does customer 42 owe?");
    await state(page, "how much does customer 42 owe?", "sent");
    const [message] = site.host.received;
    if (!message) throw new Error("nothing was received");
    expect(message).toMatchObject({ text: "how much does customer 42 owe?", provenance: "typed" });
    await site.adapter.markRead?.(message);
    await state(page, message.text, "taken");
    await site.adapter.typing?.(message.chat);
    await page.waitForSelector(".typing:not([hidden])");
    await vi.waitFor(async () => expect(await page.textContent(".status")).toBe("escribiendo…"));
    const { ref } = await sendNotice(message.chat);
    await page.waitForSelector(".notice");
    expect(await page.isHidden(".typing")).toBe(true);
    // The notice is set apart, and the text is exactly the text that was sent.
    expect(await texts(page)).toEqual([message.text, `Customer 42 owes $184,000.\n\n${notice}`]);
    expect(await page.textContent(".notice")).toBe(notice);
    await told(ref, "read");
    await type(page, "dale");
    await state(page, "dale", "sent");
    expect(site.host.received.at(-1)?.text).toBe("dale");
  });

  it("places a yes after the notice that it was typed under, and its receipt before it", async () => {
    const page = await visit();
    const chat = await chatOf(page);
    await page.route("**/receipts", async (route) => {
      await sleep(300);
      await route.continue();
    });
    const { ref, order } = await sendNotice(chat);
    await page.waitForSelector(".notice");
    await type(page, "dale");
    await vi.waitFor(() => expect(site.host.received).toHaveLength(1));
    const [yes] = site.host.received;
    const [receipt] = site.host.receipts;
    expect(yes?.order).toBeGreaterThan(order);
    expect(receipt?.ref).toBe(ref);
    expect(yes?.sentAt).toBeGreaterThanOrEqual(receipt?.at ?? Number.POSITIVE_INFINITY);
  });

  it("reports a message only once it is on a page that somebody can see, and read only with the focus", async () => {
    const page = await visit();
    const chat = await chatOf(page);
    const pretend = (visible: boolean, focus: boolean) =>
      page.evaluate(
        ({ visible, focus }) => {
          Object.defineProperty(document, "visibilityState", {
            get: () => (visible ? "visible" : "hidden"),
            configurable: true,
          });
          document.hasFocus = () => focus;
          document.dispatchEvent(new Event("visibilitychange"));
        },
        { visible, focus },
      );
    await pretend(false, false);
    const ref = await site.say(chat, "hola");
    await shows(page, "hola");
    await vi.waitFor(async () => expect(await page.title()).toBe("(1) Cobranzas"));
    await page.waitForTimeout(150);
    expect(site.host.receipts).toEqual([]);
    await pretend(true, false);
    await told(ref, "delivered");
    expect(await page.title()).toBe("Cobranzas");
    await pretend(true, true);
    await told(ref, "delivered", "read");
  });

  it("leaves whoever reads above where they are, and takes a yes that they type there for no answer to what is below", async () => {
    const page = await visit();
    const chat = await chatOf(page);
    for (let index = 0; index < 30; index++) await site.say(chat, `line ${index}`);
    await vi.waitFor(async () => expect(await texts(page)).toHaveLength(30));
    await vi.waitFor(() => expect(site.host.receipts).toHaveLength(30));
    await page.evaluate(() => document.querySelector(".scroller")?.scrollTo(0, 0));
    await page.waitForSelector(".pill:not([hidden])");
    const { ref, order } = await sendNotice(chat);
    await vi.waitFor(async () => expect(await page.textContent(".pill")).toContain("1 mensaje nuevo"));
    expect(await page.evaluate(() => document.querySelector(".scroller")?.scrollTop)).toBe(0);
    await told(ref, "delivered");
    await type(page, "si");
    await vi.waitFor(() => expect(site.host.received).toHaveLength(1));
    expect(site.host.received[0]?.order).toBeLessThan(order);
    // Whoever writes is taken to the end; there the notice is seen, and a second yes is an answer to it.
    expect(await page.isHidden(".pill")).toBe(true);
    await told(ref, "delivered", "read");
    await type(page, "si");
    await vi.waitFor(() => expect(site.host.received).toHaveLength(2));
    expect(site.host.received[1]?.order).toBeGreaterThan(order);
  });

  it("goes to the newest message by the pill", async () => {
    const page = await visit();
    const chat = await chatOf(page);
    for (let index = 0; index < 30; index++) await site.say(chat, `line ${index}`);
    await vi.waitFor(async () => expect(await texts(page)).toHaveLength(30));
    await page.evaluate(() => document.querySelector(".scroller")?.scrollTo(0, 0));
    await page.click(".pill");
    await page.waitForSelector(".pill", { state: "hidden" });
  });

  it("shows text as text, whatever it says", async () => {
    const page = await visit();
    const text = "<img src=x onerror=alert(1)> *no* &amp; <script>alert(2)</script> {{x}} https://evil.example";
    await type(page, text);
    await site.say(await chatOf(page), text);
    await shows(page, text, text);
    expect(await page.locator(".thread img, .thread script, .thread a").count()).toBe(0);
  });
});

describe("the page", () => {
  it("has the conversation again after a reload, with its ticks and days, and reports nothing twice", async () => {
    const page = await visit();
    const chat = await chatOf(page);
    await type(page, "hola");
    await state(page, "hola", "sent");
    const ref = await site.say(chat, "buenas");
    await told(ref, "read");
    await page.fill("textarea", "a draft");
    await enter(page);
    await shows(page, "hola", "buenas");
    await state(page, "hola", "taken");
    expect(await page.inputValue("textarea")).toBe("a draft");
    expect(await page.locator(".day:visible").allTextContents()).toEqual(["Hoy"]);
    await page.waitForTimeout(150);
    await told(ref, "read");
  });

  it("tells the days apart", async () => {
    const page = await visit({ locale: "en-GB" });
    const chat = await chatOf(page);
    const day = 86_400_000;
    for (const at of [Date.now() - 400 * day, Date.now() - day, Date.now()]) {
      await site.store.log.append(chat, JSON.stringify({ version: 1, kind: "agent", id: `d-${at}`, text: "x", at }));
    }
    await shows(page, "x", "x", "x");
    const days = await page.locator(".day:visible").allTextContents();
    expect(days[0]).toMatch(/^\w+day,? \d+ \w+ \d{4}$/);
    expect(days.slice(1)).toEqual(["Yesterday", "Today"]);
  });

  it("keeps people apart and one person's tabs together, also when these are opened at once", async () => {
    const ana = await visit();
    const beto = await visit();
    const second = await ana.context().newPage();
    await enter(second);
    await type(ana, "from the first tab");
    await shows(second, "from the first tab");
    await type(second, "from the second");
    await shows(ana, "from the first tab", "from the second");
    await state(ana, "from the second", "sent");
    await type(beto, "somebody else");
    await shows(beto, "somebody else");
    expect(await texts(ana)).toEqual(["from the first tab", "from the second"]);

    const fresh = await browser.newContext();
    closing.push(() => fresh.close());
    const given: (string | undefined)[] = [];
    let asking = 0;
    await fresh.route("**/session", async (route) => {
      asking++;
      // Waits for another tab to ask at the same time, if it would.
      for (let ms = 0; asking === 1 && ms < 2_000; ms += 20) await sleep(20);
      const response = await route.fetch();
      given.push(response.headers()["set-cookie"]);
      await route.fulfill({ response });
    });
    const tabs = [await fresh.newPage(), await fresh.newPage(), await fresh.newPage()];
    await Promise.all(tabs.map(enter));
    expect(given.filter((cookie) => cookie !== undefined)).toHaveLength(1);
    expect(new Set(await Promise.all(tabs.map(chatOf))).size).toBe(1);
    const [first, , third] = tabs;
    if (!first || !third) throw new Error("no tabs");
    await type(first, "hola");
    await shows(third, "hola");
  });

  it("says that a message is not sent yet, and sends it once when that is possible again", async () => {
    const page = await visit({ tolerate: /503/ });
    site.host.storeAway(true);
    await type(page, "one");
    await type(page, "two");
    await vi.waitFor(() => expect(site.host.refused).toBeGreaterThan(0));
    await state(page, "one", "sending");
    await state(page, "two", "waiting");
    site.host.storeAway(false);
    await state(page, "two", "sent");
    expect(site.host.received.map(({ text }) => text)).toEqual(["one", "two"]);
    expect(await texts(page)).toEqual(["one", "two"]);
  });

  it("keeps what could not be sent over a reload, and leaves it to the person", async () => {
    const page = await visit({ tolerate: /503/ });
    site.host.storeAway(true);
    await type(page, "keep me");
    await type(page, "forget me");
    await vi.waitFor(() => expect(site.host.refused).toBeGreaterThan(0));
    await enter(page);
    site.host.storeAway(false);
    await state(page, "keep me", "failed");
    await state(page, "forget me", "failed");
    expect(site.host.received).toEqual([]);
    await page.locator(".own", { hasText: "forget me" }).getByRole("button", { name: "Borrar" }).click();
    await page.locator(".own", { hasText: "keep me" }).getByRole("button", { name: "Reintentar" }).click();
    await state(page, "keep me", "sent");
    expect(await texts(page)).toEqual(["keep me"]);
    expect(site.host.received.map(({ text }) => text)).toEqual(["keep me"]);
  });

  it("says when the line is broken, and has all that it missed when it is back", async () => {
    const page = await visit({ tolerate: /ERR_/ });
    const chat = await chatOf(page);
    await site.say(chat, "before");
    await shows(page, "before");
    const bubble = await page.$(".agent .bubble");
    await site.unplug();
    await page.waitForSelector(".banner:not([hidden])");
    expect(await page.textContent(".banner")).toBe("Reconectando…");
    await type(page, "typed meanwhile");
    const { order } = await sendNotice(chat);
    await site.plug();
    await page.waitForSelector(".banner", { state: "hidden" });
    await state(page, "typed meanwhile", "sent");
    await vi.waitFor(async () => expect(await texts(page)).toHaveLength(3));
    // What was there is not drawn anew: nobody loses their place, or a selection.
    expect(await bubble?.evaluate((each) => each.isConnected)).toBe(true);
    // It was typed before the notice was there, whenever it arrived.
    expect(site.host.received[0]?.order).toBeLessThan(order);
  });

  it("says that it needs a cookie, instead of opening chat after chat", async () => {
    const own = await browser.newContext({ locale: "es-AR" });
    closing.push(() => own.close());
    const page = await own.newPage();
    let sessions = 0;
    await page.route("**/session", async (route) => {
      sessions++;
      const response = await route.fetch();
      const { "set-cookie": _, ...headers } = response.headers();
      await own.clearCookies();
      await route.fulfill({ response, headers });
      await own.clearCookies();
    });
    await page.goto(site.url);
    await page.waitForSelector("body[data-line=refused]");
    expect(await page.textContent(".banner")).toContain("cookies");
    const asked = sessions;
    await page.waitForTimeout(1_500);
    expect(sessions).toBe(asked);
    expect(asked).toBeLessThan(8);
  });

  it("offers to try again what another tab never got through", async () => {
    const page = await visit();
    const chat = await chatOf(page);
    const id = "0b2d6a52-4a4f-4c4b-9d53-0d3a54a7f0d1";
    const line = { version: 1, kind: "person", id, text: "lost on the way", at: Date.now() };
    await page.clock.install();
    await site.store.log.append(chat, JSON.stringify(line), `person:${id}`);
    await shows(page, "lost on the way");
    await state(page, "lost on the way", "sending");
    const { order } = await sendNotice(chat);
    await page.waitForSelector(".notice");
    for (let seconds = 0; seconds < 20; seconds += 5) await page.clock.fastForward(5_000);
    await page.getByRole("button", { name: "Reintentar" }).click();
    await state(page, "lost on the way", "sent");
    expect(site.host.received).toMatchObject([{ id, text: "lost on the way" }]);
    expect(site.host.received[0]?.order).toBeLessThan(order);
  });

  it("is used by keyboard alone", async () => {
    const page = await visit();
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("TEXTAREA");
    await page.keyboard.type("first line");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("second line");
    await page.keyboard.press("Enter");
    await shows(page, "first line\nsecond line");
    expect(await page.inputValue("textarea")).toBe("");
    await page.keyboard.press("Enter");
    await page.keyboard.type("   ");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Shift+Tab");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("role"))).toBe("log");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Control+A");
    await page.keyboard.type("by the button");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Enviar");
    await page.keyboard.press("Space");
    await shows(page, "first line\nsecond line", "by the button");
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("TEXTAREA");
  });

  it("does not send what an input method is still composing", async () => {
    const page = await visit();
    await page.fill("textarea", "にほん");
    await page.evaluate(() => {
      const field = document.querySelector("textarea");
      field?.dispatchEvent(
        new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true, cancelable: true }),
      );
    });
    expect(await page.inputValue("textarea")).toBe("にほん");
    await page.press("textarea", "Enter");
    await shows(page, "にほん");
  });

  it("reads new messages out politely, and not the history", async () => {
    const page = await visit();
    const chat = await chatOf(page);
    await site.say(chat, "hola");
    await shows(page, "hola");
    const log = page.getByRole("log", { name: "Conversación" });
    expect(await log.getAttribute("aria-live")).toBe("polite");
    await vi.waitFor(async () => expect(await log.getAttribute("aria-busy")).toBeNull());
    expect(await page.locator(".agent .unseen").textContent()).toBe("Cobranzas: ");
    await type(page, "chau");
    await page.getByRole("img", { name: "Enviado" }).waitFor();
  });

  it("fits a phone, with words of any length, and has targets for thumbs", async () => {
    const page = await visit({
      viewport: { width: 360, height: 640 },
      isMobile: true,
      hasTouch: true,
      deviceScaleFactor: 2,
    });
    await type(page, "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch".repeat(6));
    await site.say(await chatOf(page), `${"x".repeat(500)}\n\n${"word ".repeat(100)}`);
    await vi.waitFor(async () => expect(await texts(page)).toHaveLength(2));
    const widths = () =>
      page.evaluate(() => {
        const scroller = document.querySelector(".scroller");
        return [document.documentElement.scrollWidth, scroller?.scrollWidth];
      });
    expect(await widths()).toEqual([360, 360]);
    const send = await page.locator(".send").boundingBox();
    expect(send?.width).toBeGreaterThanOrEqual(40);
    expect((send?.y ?? 0) + (send?.height ?? 0)).toBeLessThanOrEqual(640);
    await page.setViewportSize({ width: 640, height: 320 });
    expect(await page.locator("textarea").isVisible()).toBe(true);
    await page.fill("textarea", "line\n".repeat(60));
    const field = await page.locator("textarea").boundingBox();
    expect(field?.height).toBeLessThan(160);
  });

  it("refuses a text that is too long before it is sent, and says by how much", async () => {
    const page = await visit();
    await page.fill("textarea", "x".repeat(16_003));
    expect(await page.textContent(".count")).toBe("Sobran 3 caracteres");
    await page.press("textarea", "Enter");
    expect(await page.isDisabled(".send")).toBe(true);
    expect(await texts(page)).toEqual([]);
    await page.fill("textarea", "x".repeat(16_000));
    await page.press("textarea", "Enter");
    await vi.waitFor(() => expect(site.host.received[0]?.text).toHaveLength(16_000));
  });

  it.each(["light", "dark"] as const)("can be read by everybody in the %s", async (colorScheme) => {
    const page = await visit({ colorScheme });
    await type(page, "hola");
    await state(page, "hola", "sent");
    await sendNotice(await chatOf(page));
    await page.waitForSelector(".notice");
    const ratios = await page.evaluate(contrasts, [
      ".own .text",
      ".own .time",
      ".agent .text",
      ".agent .time",
      ".notice",
      ".status",
      ".title",
      ".day",
    ]);
    for (const [selector, ratio] of ratios)
      expect([selector, ratio]).toEqual([selector, expect.toSatisfy((it: number) => it >= 4.5)]);
    const paper = await page.evaluate(
      () => getComputedStyle(document.querySelector(".chat") as Element).backgroundColor,
    );
    const brightness = Math.max(...(paper.match(/\d+/g) ?? []).map(Number));
    expect(brightness > 128).toBe(colorScheme === "light");
  });

  it.each([
    ["es-AR", "Escribí un mensaje"],
    ["es-MX", "Escribe un mensaje"],
    ["pt-BR", "Escreva uma mensagem"],
    ["en-US", "Write a message"],
  ])("speaks the language of the browser: %s", async (locale, placeholder) => {
    const page = await visit({ locale });
    expect(await page.getAttribute("textarea", "placeholder")).toBe(placeholder);
    expect(await page.getAttribute("html", "lang")).toBe(
      locale === "es-MX" ? "es" : locale === "en-US" ? "en" : locale,
    );
  });

  it("moves nothing for those who asked for that", async () => {
    const page = await visit({ reducedMotion: "reduce" });
    await site.adapter.typing?.(await chatOf(page));
    await page.waitForSelector(".typing:not([hidden])");
    expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
  });

  it("is shown in nobody else's frame", async () => {
    const page = await visit();
    const response = await page.request.get(`${site.url}/`);
    expect(response.headers()["content-security-policy"]).toContain("frame-ancestors 'none'");
    const cookies = await page.context().cookies();
    expect(cookies).toMatchObject([{ name: "dale_chat", path: "/chat/web", httpOnly: true, sameSite: "Strict" }]);
    expect(await page.evaluate(() => document.cookie)).toBe("");
  });
});

/** Runs in the page. Contrast of text against what is painted behind it, by WCAG 2. */
function contrasts(selectors: readonly string[]): [string, number][] {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  if (!canvas) throw new Error("no canvas");
  const paint = (colors: readonly string[]): readonly number[] => {
    canvas.clearRect(0, 0, 1, 1);
    for (const color of colors) {
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
    }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminance = (rgb: readonly number[]): number => {
    const [r = 0, g = 0, b = 0] = rgb.map((value) => {
      const part = value / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  return selectors.map((selector) => {
    const found = document.querySelector(selector);
    if (!found) throw new Error(`no ${selector}`);
    const behind: string[] = [];
    for (let at: Element | null = found; at; at = at.parentElement)
      behind.unshift(getComputedStyle(at).backgroundColor);
    const back = luminance(paint(behind));
    const front = luminance(paint([...behind, getComputedStyle(found).color]));
    return [selector, (Math.max(back, front) + 0.05) / (Math.min(back, front) + 0.05)];
  });
}
