import { describe, expect, it } from "vitest";
import { exportCsv, reportHtml, verifyExport } from "../../../src/evidence/index.js";
import { reportWordings } from "../../../src/evidence/report-wording.js";
import { evidenceEntry, testKeys } from "../../fixtures/evidence.js";
import { exportOf } from "../../fixtures/evidence-export.js";

const keys = testKeys();
const at = Date.UTC(2026, 3, 1, 12, 0, 0);
const notice = "Para confirmar respondé SI. Voy a ejecutar: praxis_crear_record con nota: <b>&";
const step = (type: string, detail: Record<string, string | number | boolean>, after: number) =>
  evidenceEntry(`e-${after}`, { type, detail, at: at + after });
const story = [
  step("proposed", { notice, args: '{"monto":184000,"nota":"<b>&"}', expiresAt: at + 600_000 }, 0),
  step("delivery", { part: "out-1", state: "delivered", platformAt: at + 900 }, 1_000),
  step("notice_sent", { part: "out-1", ref: "wamid.1" }, 1_010),
  step("notice_delivered", { part: "out-1", level: "read" }, 1_020),
  step("unseen", { message: "m-1", words: "si", reason: "buried", again: true }, 2_000),
  step("granted", { message: "m-2", words: "=Dale\u202e", sentAt: at + 2_900, receivedAt: at + 3_000 }, 3_000),
  step("consumed", { grant: "m-2" }, 3_010),
  step("executed", { result: '{"id":"A-9"}' }, 3_500),
];

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

const csv = async (lines: readonly string[]): Promise<string> => {
  let text = "";
  for await (const piece of exportCsv(each(lines))) text += piece;
  return text;
};

describe("an export that was made from the description of the format", () => {
  it("is verified", async () => {
    const lines = exportOf(story, keys, { proposal: "p-1" }).map((line) => line.trimEnd());
    expect(await verifyExport(lines, keys.publicKey)).toMatchObject({ ok: true, entries: 8 });
  });
});

describe("the page of a proposal", () => {
  const page = (language: "es" | "en", entries = story) =>
    reportHtml(exportOf(entries, keys, { proposal: "p-1" }), language);

  it("tells the whole story, in order, in either language", async () => {
    for (const [language, words] of [
      [
        "es",
        ["Constancia", "La persona escribió una confirmación.", "después del aviso se había enviado otro mensaje"],
      ],
      [
        "en",
        ["Record of consent", "The person typed a confirmation.", "another message had been sent after the notice"],
      ],
    ] as const) {
      const html = (await page(language)) ?? "";
      expect(html).toContain(`<html lang="${language}">`);
      for (const text of [...words, "telegram:bot:7:7", "184000", "wamid.1", "m-2", "A-9"]) {
        expect(html).toContain(text);
      }
      expect(html).toContain("2026-04-01 12:00:03.000");
      const steps = [...html.matchAll(/<tr class="(\w+)"/g)].map(([, type]) => type);
      expect(steps).toEqual(story.map(({ type }) => type));
      expect(html).toContain(reportWordings[language].summary.executed);
      expect(html).toContain(reportWordings[language].whole);
    }
  });

  it("shows texts as texts, and what could hide as its code", async () => {
    const html = (await page("en")) ?? "";
    expect(html).toContain("con nota: &lt;b&gt;&amp;");
    expect(html).not.toContain("<b>");
    expect(html).toContain("=Dale\\u{202E}");
    expect(html).not.toContain("\u202e");
  });

  it("loads nothing and runs nothing", async () => {
    const html = (await page("en")) ?? "";
    expect(html).not.toMatch(/<script|<link|<img|src=|href=|url\(/);
  });

  it("says what did not happen, what nobody knows, and who approved", async () => {
    const summary = async (entries: typeof story) => (await page("en", entries)) ?? "";
    const { summary: say, steps } = reportWordings.en;
    expect(await summary(story.slice(0, 5))).toContain(say.none);
    expect(await summary([...story.slice(0, 7), step("unknown", { reason: "run_interrupted" }, 9_000)])).toContain(
      say.unknown,
    );
    expect(await summary([...story.slice(0, 7), step("failed", {}, 9_000)])).toContain(say.failed);
    const approved = await summary([
      step("proposed", { approval: true, notice }, 0),
      step("granted", { approval: true, consent: "human_review", by: "Ana", comment: "ok" }, 10),
      step("executed", { approval: true, result: "{}" }, 20),
    ]);
    expect(approved).toContain(say.executedApproved);
    expect(approved).toContain(steps.approval_granted);
    expect(approved).toContain("Ana");
  });

  it("does not take a message that went out without the notice for one with it", async () => {
    const { steps, delivery } = reportWordings.en;
    const withIt = `${steps.delivery}: ${delivery.delivered}`;
    const without = `${steps.delivery_without}: ${delivery.delivered}`;
    expect(await page("en")).toContain(withIt);
    const never =
      (await page(
        "en",
        story.filter(({ type }) => type !== "notice_sent"),
      )) ?? "";
    expect(never).toContain(without);
    expect(never).not.toContain(withIt);
  });

  it("warns on its face when the evidence was altered", async () => {
    const lines = exportOf(story, keys, { proposal: "p-1" }).map((line) => line.replace("A-9", "B-1"));
    const html = (await reportHtml(lines, "en")) ?? "";
    expect(html).toContain(reportWordings.en.broken);
    expect(html).toContain("content_altered");
    expect(html).not.toContain(reportWordings.en.whole);
  });

  it("is none where there is nothing of the proposal", async () => {
    expect(await reportHtml(exportOf(story, keys, { proposal: "p-2" }), "en")).toBeUndefined();
  });

  it("has the same words to say in both languages", () => {
    const shape = (value: unknown): unknown =>
      typeof value === "object" && value !== null
        ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shape(inner)]))
        : typeof value;
    expect(shape(reportWordings.es)).toEqual(shape(reportWordings.en));
  });
});

describe("the table of an export", () => {
  it("has a row for each entry, and no formula", async () => {
    const text = await csv(
      exportOf([story[0] as (typeof story)[0], { ...story[5], agent: "=1+1" } as (typeof story)[0]], keys, {
        proposal: "p-1",
      }),
    );
    const [head, first, second, end] = text.split("\r\n");
    expect(head).toBe("at,type,session,proposal,agent,tool,args_hash,turn,detail,id,chain,seq,hash");
    expect(first).toContain("2026-04-01T12:00:00.000Z,proposed,telegram:bot:7:7,p-1,cobranzas,praxis_crear_record,");
    expect(first).toContain('"{""notice"":""Para confirmar');
    expect(second).toContain(",'=1+1,");
    expect(end).toBe("");
  });

  it("leaves out what may not be read", async () => {
    const text = await csv(exportOf(story, keys, { proposal: "p-1", withheld: ["e-0"] }));
    expect(text.split("\r\n")[1]).toMatch(
      /^2026-04-01T12:00:00\.000Z,proposed,,p-1,cobranzas,praxis_crear_record,,,,e-0,ch_one,1,[0-9a-f]{64}$/,
    );
  });
});
