import { describe, expect, it } from "vitest";
import { type EvidenceEntry, exportCsv, reportHtml, verifyExport } from "../../../src/evidence/index.js";
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
    reportHtml("p-1", language, (proposal) => each(exportOf(entries, keys, { proposal })));

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
      expect(html).toContain(reportWordings[language].summary.consent.executed);
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

  it("says what did not happen, and what nobody knows", async () => {
    const summary = async (entries: typeof story) => (await page("en", entries)) ?? "";
    const say = reportWordings.en.summary.consent;
    expect(await summary(story.slice(0, 5))).toContain(say.none);
    expect(await summary([...story.slice(0, 7), step("unknown", { reason: "run_interrupted" }, 9_000)])).toContain(
      say.unknown,
    );
    expect(await summary([...story.slice(0, 7), step("failed", {}, 9_000)])).toContain(say.failed);
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
    const html = (await reportHtml("p-1", "en", () => each(lines))) ?? "";
    expect(html).toContain(reportWordings.en.broken);
    expect(html).toContain("content_altered");
    expect(html).not.toContain(reportWordings.en.whole);
  });

  it("is none where there is nothing of the proposal", async () => {
    expect(await reportHtml("p-2", "en", (proposal) => each(exportOf(story, keys, { proposal })))).toBeUndefined();
  });

  it("has the same words to say in both languages", () => {
    const shape = (value: unknown): unknown =>
      typeof value === "object" && value !== null
        ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shape(inner)]))
        : typeof value;
    expect(shape(reportWordings.es)).toEqual(shape(reportWordings.en));
  });
});

describe("the page of an approval", () => {
  const { summary: say, steps, noticeNote, showsNote, awaited } = reportWordings.en;
  const shows = "wire_money with amount: 9000";
  const yes = { approval: true, consent: "human_review", by: "Ana", comment: "called them" };
  /** What a conversation parked; `agent: ""` is an application's own question. */
  const approval = (types: readonly string[], over: { agent?: string } = {}) =>
    types.map((type, n) => {
      const detail = type === "proposed" ? { approval: true, shows, args: '{"amount":9000}' } : yes;
      return evidenceEntry(`a-${n}`, { type, proposal: "apr-1", at: at + n, detail, ...over });
    });
  const page = async (id: string, entries: readonly EvidenceEntry[], withheld: readonly string[] = []) =>
    (await reportHtml(id, "en", (proposal) => each(exportOf(entries, keys, { proposal, withheld })))) ?? "";

  it("says who approved, what they saw, and what ran; and nothing of a notice", async () => {
    const html = await page("apr-1", approval(["proposed", "granted", "consumed", "executed"]));
    for (const text of [
      say.approval.executed,
      steps.approval_granted,
      "Ana",
      "called them",
      shows,
      showsNote,
      "9000",
    ]) {
      expect(html).toContain(text);
    }
    for (const text of [reportWordings.en.notice, noticeNote, reportWordings.en.title])
      expect(html).not.toContain(text);
  });

  it("says of each end what is known of it", async () => {
    for (const [types, words] of [
      [["proposed"], say.approval.waiting],
      [["proposed", "granted"], say.approval.granted],
      [["proposed", "discarded"], say.approval.discarded],
      [["proposed", "expired"], say.approval.expired],
      [["proposed", "granted", "consumed", "failed"], say.approval.failed],
      [["proposed", "granted", "consumed", "unknown"], say.approval.unknown],
    ] as const) {
      expect(await page("apr-1", approval(types))).toContain(words);
    }
  });

  it("says of an application's question what it was told, and that nobody here knows whether it ran", async () => {
    for (const [types, words] of [
      [["proposed"], say.app.waiting],
      [["proposed", "granted"], say.app.granted],
      [["proposed", "discarded"], say.app.discarded],
      [["proposed", "expired"], say.app.expired],
    ] as const) {
      const html = await page("apr-1", approval(types, { agent: "" }));
      expect(html).toContain(words);
      expect(html).not.toContain(say.consent.none);
      expect(html).not.toContain(reportWordings.en.person);
    }
  });

  it("says so after its content was erased too", async () => {
    const erased = await page("apr-1", approval(["proposed", "granted"], { agent: "" }), ["a-0", "a-1"]);
    expect(erased).toContain(say.app.granted);
    expect(erased).toContain(html(say.erased));
  });

  it("is named on the page of the proposal that waits for it, with what became of it", async () => {
    const parked = [...story.slice(0, 7), step("parked", { awaits: "apr-1" }, 3_500)];
    const own = await page("p-1", [...parked, ...approval(["proposed", "granted", "consumed", "executed"])]);
    for (const text of [say.consent.parked, steps.parked, say.approval.executed, "--format html --proposal apr-1"]) {
      expect(own).toContain(html(text ?? ""));
    }
    expect(own).not.toContain(say.consent.failed);
    expect(await page("p-1", [...parked, ...approval(["proposed"])])).toContain(say.approval.waiting);
    expect(await page("p-1", parked)).toContain(awaited.none);
    expect(await page("p-1", parked, ["e-3500"])).toContain(say.consent.parked);
  });
});

const html = (text: string) => text.replaceAll("'", "&#39;");

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
