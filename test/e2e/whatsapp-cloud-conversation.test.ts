import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type FakeBackend, startBackend } from "../fakes/backend/index.js";
import { type FakeOpenAi, startFakeOpenAi } from "../fakes/openai/index.js";
import { type FakeTranscription, startFakeTranscription } from "../fakes/transcription/index.js";
import {
  callOf,
  encode,
  type FakeApp,
  type FakeGraph,
  type FakeNumber,
  type Person,
  startFakeGraph,
} from "../fakes/whatsapp-graph/index.js";
import {
  cobranzasAgent,
  praxisConnections,
  praxisManifest,
  storyModel,
  storyNotice,
  storyPlan,
  storyQuestion,
} from "../fixtures/cobranzas.js";
import { eventually, type Gateway, type Installation, install } from "../fixtures/gateway.js";

const verifyToken = "what-was-typed-into-the-console";

describe("the conversation over WhatsApp's Cloud API", () => {
  let backend: FakeBackend;
  let model: FakeOpenAi;
  let transcription: FakeTranscription;
  let graph: FakeGraph;
  let app: FakeApp;
  let number: FakeNumber;
  let sales: FakeNumber;
  let place: Installation;
  let dale: Gateway;

  beforeAll(async () => {
    [backend, model, transcription, graph] = await Promise.all([
      startBackend(),
      startFakeOpenAi({ script: storyModel }),
      startFakeTranscription(),
      startFakeGraph(),
    ]);
    app = graph.app();
    number = app.number();
    sales = app.number();
    const account = (name: string, { id, token }: FakeNumber) => ({
      name,
      agent: "cobranzas",
      phone_number_id: id,
      access_token: token,
      app_secret: app.secret,
      verify_token: verifyToken,
      graph_url: graph.url,
      limits: "off",
    });
    place = await install({
      config: {
        gate: { receipt_wait: "1500ms" },
        channels: { whatsapp_cloud: [account("main", number), account("sales", sales)] },
        media: { transcription: { endpoint: transcription.url, model: "whisper-1", language: "es" } },
      },
      agents: {
        cobranzas: cobranzasAgent(model.url, {
          model: {
            primary: {
              provider: "openai_compat",
              model: "puppet",
              endpoint: model.url,
              api_key_env: "MODEL_KEY",
              vision: true,
            },
          },
        }),
      },
      integrations: { praxis: praxisManifest },
      connections: praxisConnections(backend.url),
    });
    dale = await place.start();
    expect(await app.subscribe(`${place.url}/webhooks/whatsapp-cloud/main`, verifyToken)).toBe(true);
  });
  afterAll(async () => {
    expect(await dale.stop()).toBe(0);
    await Promise.all([backend.close(), model.stop(), transcription.stop(), graph.close()]);
    await place.remove();
  });

  let ana: Person;
  let written: number;
  beforeEach(() => {
    ana = number.person("Ana");
    written = backend.writes.length;
    number.reports = { statuses: [] };
  });
  afterEach(() => {
    for (const secret of [storyQuestion, number.token, app.secret, verifyToken, ana.phone ?? "", ana.userId ?? ""]) {
      expect(dale.output()).not.toContain(secret);
    }
  });

  const to = (person: Person) => number.sent.filter((sent) => sent.to === person.phone || sent.to === person.userId);
  const answer = (n = 1, person = ana) => eventually(() => to(person)[n - 1]);
  const writes = () => backend.writes.slice(written).map(({ body }) => JSON.parse(body) as unknown);
  const evidence = async (person = ana): Promise<string[]> => {
    const session = `whatsapp_cloud:main:${person.phone}:${person.phone}`;
    const response = await fetch(`${place.url}/v1/evidence?session=${encodeURIComponent(session)}`, {
      headers: { authorization: `Bearer ${place.token}` },
    });
    const { items } = (await response.json()) as { items: { type: string }[] };
    return items.map(({ type }) => type);
  };
  const withEvidence = (type: string) =>
    eventually(async () => ((await evidence()).includes(type) ? await evidence() : undefined));
  /** Ana asks, and Meta has taken the answer with its notice. */
  const asked = async () => {
    number.types(ana, storyQuestion);
    const first = await answer();
    expect(first.text).toBe(`Customer 42 owes $184,000.\n\n${storyNotice}`);
    await withEvidence("notice_sent");
    return first;
  };

  it("runs the call after the person's yes, exactly as it was shown", async () => {
    number.reports = { statuses: ["sent", "delivered", "read"] };
    await asked();
    await withEvidence("notice_delivered");
    expect(writes()).toEqual([]);
    number.types(ana, "dale");
    expect((await answer(2)).text).toBe("Done — plan recorded, 3 instalments of $61,333.");
    expect(writes()).toEqual([storyPlan]);
    const types = await withEvidence("executed");
    expect(types.filter((type) => type !== "notice_delivered")).toEqual([
      "proposed",
      "notice_sent",
      "granted",
      "consumed",
      "executed",
    ]);
    const reads = number.calls.filter(({ kind }) => kind === "read");
    expect(reads.every(({ payload }) => payload.typing_indicator !== undefined)).toBe(true);
  });

  it("takes a yes for one whose notice's receipts came even before Meta had answered the send", async () => {
    number.reports = { statuses: ["sent", "delivered"], beforeAnswer: true };
    number.types(ana, storyQuestion);
    await answer();
    await withEvidence("notice_delivered");
    number.types(ana, "dale");
    await answer(2);
    expect(writes()).toEqual([storyPlan]);
  });

  it("takes it for read where Meta says no more than that it was read", async () => {
    const { id } = await asked();
    number.status(id, "read");
    await withEvidence("notice_delivered");
    number.types(ana, "sí");
    await answer(2);
    expect(writes()).toEqual([storyPlan]);
  });

  it("lets a yes that came before the receipt wait for it", async () => {
    const { id } = await asked();
    const at = Date.now();
    number.types(ana, "dale", {}, { at });
    await sleep(300);
    expect(writes()).toEqual([]);
    number.status(id, "delivered", {}, at);
    expect((await answer(2)).text).toBe("Done — plan recorded, 3 instalments of $61,333.");
    expect(writes()).toEqual([storyPlan]);
  });

  it("runs nothing for a yes that was typed before the notice had arrived, and shows it again", async () => {
    const { id } = await asked();
    const at = Date.now();
    number.types(ana, "dale", {}, { at });
    number.status(id, "delivered", {}, at + 5_000);
    expect((await answer(2)).text).toBe(storyNotice);
    expect(writes()).toEqual([]);
    const again = to(ana)[1]?.id ?? "";
    number.status(again, "delivered");
    await eventually(async () => (await evidence()).filter((type) => type === "notice_delivered").length === 2);
    number.types(ana, "dale");
    expect((await answer(3)).text).toBe("Done — plan recorded, 3 instalments of $61,333.");
    expect(writes()).toEqual([storyPlan]);
  });

  it("runs nothing for a yes to a notice without a receipt, and shows it again", async () => {
    await asked();
    number.types(ana, "dale");
    expect((await answer(2)).text).toBe(storyNotice);
    expect(writes()).toEqual([]);
    expect(await evidence()).toContain("unseen");
  });

  it("runs nothing when the notice failed after Meta had taken it", async () => {
    const { id } = await asked();
    number.status(id, "failed", { errors: [{ code: 131026, title: "Message undeliverable" }] });
    await withEvidence("notice_failed");
    number.types(ana, "dale");
    await answer(2);
    expect(writes()).toEqual([]);
    expect(await evidence()).not.toContain("granted");
  });

  it("takes a yes that quotes the notice, whatever the receipts say", async () => {
    const { id } = await asked();
    number.types(ana, "dale", { context: { from: number.display, id } });
    await answer(2);
    expect(writes()).toEqual([storyPlan]);
  });

  it("goes on with a person who changed their number in between", async () => {
    const { id } = await asked();
    number.status(id, "delivered");
    await withEvidence("notice_delivered");
    const changed = number.rename(ana, { phone: `${ana.phone}77`, userId: `${ana.userId}77` });
    number.system(
      { type: "user_changed_number", wa_id: changed.phone, user_id: changed.userId, previous_user_id: ana.userId },
      ana.phone,
    );
    number.types(changed, "dale");
    expect((await answer(1, changed)).text).toBe("Done — plan recorded, 3 instalments of $61,333.");
    expect(writes()).toEqual([storyPlan]);
  });

  describe("with a notice that has arrived", () => {
    let shown: string;
    beforeEach(async () => {
      const { id } = await asked();
      number.status(id, "delivered");
      await withEvidence("notice_delivered");
      shown = id;
    });

    const noNews: readonly (readonly [string, () => void])[] = [
      ["a reaction", () => number.message(ana, { type: "reaction", reaction: { message_id: shown, emoji: "👍" } })],
      [
        "a button",
        () =>
          number.message(ana, {
            type: "interactive",
            interactive: { type: "button_reply", button_reply: { id: "si", title: "si" } },
          }),
      ],
      [
        "an edit of what was said before",
        () =>
          number.message(ana, {
            type: "edit",
            edit: { original_message_id: "wamid.OLD", message: { type: "text", text: { body: "si" } } },
          }),
      ],
      ["somebody else's yes", () => number.types(number.person("Beto"), "si")],
    ];
    it.each(noNews)("runs nothing for %s, and keeps the proposal for the person's own word", async (_, move) => {
      move();
      await eventually(() => app.pending() === 0);
      await sleep(200);
      expect(writes()).toEqual([]);
      number.types(ana, "si");
      await eventually(() => writes().length > 0);
      expect(writes()).toEqual([storyPlan]);
    });

    const news: readonly (readonly [string, () => void])[] = [
      ["a forwarded yes", () => number.types(ana, "si", { context: { forwarded: true } })],
      [
        "a picture with a yes below it",
        () => number.message(ana, { type: "image", image: { id: "1", caption: "si" } }),
      ],
      ["a yes to another message", () => number.types(ana, "si", { context: { id: "wamid.OTHER" } })],
      ["a yes with a condition", () => number.types(ana, "si, pero mañana")],
    ];
    it.each(news)("discards the proposal for %s", async (_, move) => {
      move();
      await withEvidence("discarded");
      await answer(2);
      number.types(ana, "si");
      await answer(3);
      expect(writes()).toEqual([]);
    });

    it("does not take a spoken yes for one, although the agent hears it", async () => {
      transcription.hears({ text: "si" });
      const audio = {
        id: number.media(new Uint8Array([1, 2, 3]), "audio/ogg"),
        mime_type: "audio/ogg; codecs=opus",
        voice: true,
      };
      number.message(ana, { type: "audio", audio });
      await withEvidence("discarded");
      expect((await answer(2)).text).toContain("si");
      expect(transcription.heard.at(-1)).toMatchObject({
        model: "whisper-1",
        language: "es",
        bytes: new Uint8Array([1, 2, 3]),
      });
      number.types(ana, "si");
      await answer(3);
      expect(writes()).toEqual([]);
    });

    it("believes no webhook call that Meta has not signed", async () => {
      const message = {
        from: ana.phone,
        id: "wamid.FORGED",
        timestamp: String(Math.floor(Date.now() / 1000)),
        type: "text",
        text: { body: "si" },
      };
      const metadata = { display_phone_number: number.display, phone_number_id: number.id };
      const body = encode(callOf("1", [{ field: "messages", value: { metadata, messages: [message] } }]));
      expect((await app.post(body, null)).status).toBe(401);
      expect((await app.post(body, `sha256=${"0".repeat(64)}`)).status).toBe(401);
      await sleep(200);
      expect(writes()).toEqual([]);
    });

    it("runs it once for a yes that is delivered three times", async () => {
      number.types(ana, "si");
      await eventually(() => app.pending() === 0);
      expect(await app.redeliver()).toBe(200);
      expect(await app.redeliver()).toBe(200);
      await answer(2);
      await sleep(200);
      expect(writes()).toEqual([storyPlan]);
      expect(to(ana)).toHaveLength(2);
    });
  });

  it("waits in a group for the yes of the one who asked, and has to know that they have the notice", async () => {
    const group = number.group();
    const beto = number.person("Beto");
    number.types(ana, `@${number.display} ${storyQuestion}`, {}, { group });
    const shown = await eventually(() => number.sent.find((sent) => sent.to === group));
    expect(shown.text).toMatch(/Ana/);
    expect(shown.replyTo).toBeDefined();
    const context = { from: number.display, id: shown.id };
    number.status(shown.id, "delivered", { recipient_participant_id: beto.phone });
    number.types(beto, "dale", { context }, { group });
    await eventually(() => number.sent.filter((sent) => sent.to === group).length === 2);
    expect(writes()).toEqual([]);
    number.types(ana, "dale", {}, { group });
    number.types(ana, "dale", { context }, { group });
    await eventually(() => writes().length > 0);
    expect(writes()).toEqual([storyPlan]);
  });

  it("hears what is asked in a voice note, and says so honestly when it cannot", async () => {
    number.reports = { statuses: ["delivered"] };
    const audio = () => ({ id: number.media(new Uint8Array([7]), "audio/ogg"), mime_type: "audio/ogg", voice: true });
    transcription.hears({ text: "how much does customer 42 owe" });
    number.message(ana, { type: "audio", audio: audio() });
    expect((await answer()).text).toBe(`Customer 42 owes $184,000.\n\n${storyNotice}`);
    transcription.hears({ fault: "status", status: 500 });
    const beto = number.person("Beto");
    number.message(beto, { type: "audio", audio: audio() });
    expect((await answer(1, beto)).text).toContain("[voice, audio/ogg, it could not be transcribed]");
  });

  it("shows a picture to a model that sees, and keeps no byte of it", async () => {
    const pixels = new Uint8Array([0xff, 0xd8, 0xff, 0xe0, 9, 8, 7]);
    const image = { id: number.media(pixels), mime_type: "image/jpeg", caption: "¿qué dice acá?" };
    number.message(ana, { type: "image", image });
    await answer();
    const encoded = Buffer.from(pixels).toString("base64");
    const seen = () => JSON.stringify(model.requests.at(-1)?.messages.at(-1));
    expect(seen()).toContain(encoded);
    expect(seen()).toContain("¿qué dice acá?");
    number.types(ana, "gracias");
    await answer(2);
    expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toContain(encoded);
  });

  it("serves the app's other number from the same webhook, and shrugs off a third that it does not know", async () => {
    const third = app.number();
    const customer = sales.person("Carla");
    app.hold(true);
    third.types(third.person(), "¿hay alguien?");
    sales.types(customer, "hola");
    app.hold(false);
    const sent = await eventually(() => sales.sent[0]);
    expect(sent).toMatchObject({ to: customer.phone, text: "You said: hola" });
    expect(app.pending()).toBe(0);
    const metrics = await fetch(`${place.url}/metrics`, { headers: { authorization: `Bearer ${place.token}` } });
    expect(await metrics.text()).toMatch(/unknown_phone_number_id/);
  });

  it("tells the operator how the account is", async () => {
    const channels = async () => {
      const response = await fetch(`${place.url}/v1/channels`, { headers: { authorization: `Bearer ${place.token}` } });
      return ((await response.json()) as { items: { name: string; state: string; reason?: string }[] }).items;
    };
    expect(await channels()).toMatchObject([
      { channel: "whatsapp_cloud", name: "main", state: "open" },
      { channel: "whatsapp_cloud", name: "sales", state: "open" },
    ]);
    sales.expired = true;
    sales.types(sales.person(), "hola");
    const troubled = await eventually(async () => (await channels()).find(({ state }) => state === "reconnecting"));
    expect(troubled).toMatchObject({ name: "sales", reason: expect.stringMatching(/access token/) });
    sales.expired = false;
  });
});
