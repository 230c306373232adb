import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { OutboundMessage } from "../../../src/channels/index.js";
import { type Fault, faults, type Person } from "../../fakes/whatsapp-graph/index.js";
import { until } from "../../fixtures/telegram.js";
import { type CloudProcess, type CloudRig, createCloudRig, impatientTiming } from "../../fixtures/whatsapp-cloud.js";

describe("WhatsApp Cloud API: sending", () => {
  let rig: CloudRig;
  let one: CloudProcess;
  let ana: Person;
  beforeEach(async () => {
    rig = await createCloudRig();
    one = rig.process();
    ana = rig.number.person("Ana");
  });
  afterEach(() => rig.close());

  const to = (person: Person = ana, more: Partial<OutboundMessage> = {}): OutboundMessage => ({
    chat: person.phone ?? person.userId ?? "",
    sender: person.phone ?? person.userId ?? "",
    group: false,
    text: "hola",
    ...more,
  });
  const payloads = () => rig.number.calls.filter(({ kind }) => kind === "send").map(({ payload }) => payload);

  it("posts plain text without a preview of links, and calls the message what Meta calls it", async () => {
    const result = await one.adapter.send(to(ana, { text: "https://dale.example *no* _es_ formato" }));
    expect(result).toEqual({ status: "accepted", ref: rig.number.sent[0]?.id });
    expect(payloads()).toEqual([
      {
        messaging_product: "whatsapp",
        recipient_type: "individual",
        to: ana.phone,
        type: "text",
        text: { body: "https://dale.example *no* _es_ formato", preview_url: false },
      },
    ]);
  });

  it("writes to a person whose number Meta does not tell by their business-scoped id", async () => {
    one = await rig.open();
    const beto = rig.number.person("Beto", { phone: null });
    rig.number.types(beto, "hola");
    await until(() => one.host.received.length === 1);
    const [got] = one.host.received;
    expect(got).toMatchObject({ chat: beto.userId, sender: beto.userId, text: "hola", senderName: "Beto" });
    expect(await one.adapter.send(to(beto))).toMatchObject({ status: "accepted" });
    expect(rig.number.sent).toMatchObject([{ by: "recipient", to: beto.userId }]);
    expect(payloads()[0]).not.toHaveProperty("to");
  });

  it("follows a person to their new number, under the name that they were first seen by", async () => {
    one = await rig.open();
    rig.number.types(ana, "hola");
    const changed = rig.number.rename(ana, { phone: "5491199990000", userId: "AR.999" });
    rig.number.system(
      {
        type: "user_changed_number",
        body: `User Ana changed from ${ana.phone} to ${changed.phone}`,
        wa_id: changed.phone,
        user_id: changed.userId,
        previous_user_id: ana.userId,
      },
      ana.phone,
    );
    rig.number.types(changed, "soy yo");
    await until(() => one.host.received.length === 2);
    expect(one.host.received.map(({ sender, text }) => [sender, text])).toEqual([
      [ana.phone, "hola"],
      [ana.phone, "soy yo"],
    ]);
    await one.adapter.send(to(ana));
    expect(rig.number.sent).toMatchObject([{ to: changed.phone }]);
    expect(one.host.counts).toEqual(["number_changed"]);
  });

  it("follows a person whose new business-scoped id is all that is told, in Meta's words alone", async () => {
    one = await rig.open();
    const beto = rig.number.person("Beto changed from AR.1 to AR.2", { phone: null });
    rig.number.types(beto, "hola");
    const changed = rig.number.rename(beto, { userId: "AR.777" });
    const body = `User ${beto.name} changed from ${beto.userId} to AR.777`;
    rig.number.system({ type: "user_changed_user_id", body, user_id: "AR.777" });
    rig.number.types(changed, "soy yo");
    await until(() => one.host.received.length === 2);
    expect(one.host.received.map(({ sender }) => sender)).toEqual([beto.userId, beto.userId]);
    await one.adapter.send(to(beto));
    expect(rig.number.sent).toMatchObject([{ by: "recipient", to: "AR.777" }]);
  });

  it("is not sent to whoever has the number of somebody whom it was meant for", async () => {
    one = await rig.open();
    rig.number.types(ana, "hola");
    const next = rig.number.rename(ana, { userId: "AR.555" });
    rig.number.types(next, "número nuevo");
    await until(() => one.host.received.length === 2);
    expect(one.host.received.map(({ sender }) => sender)).toEqual([ana.phone, "AR.555"]);
    await one.adapter.send(to(ana, { text: "para Ana" }));
    expect(rig.number.sent).toMatchObject([{ by: "recipient", to: ana.userId, text: "para Ana" }]);
  });

  it("quotes in a group what it answers, and says it all the same when that is gone", async () => {
    const group = rig.number.group();
    one = await rig.open();
    const id = rig.number.types(ana, "¿cuánto debo?", {}, { group });
    await until(() => one.host.received.length === 1);
    const answer = { chat: group, sender: ana.phone ?? "", group: true, text: "nada" };
    await one.adapter.send({ ...answer, replyTo: id });
    await one.adapter.send({ ...answer, replyTo: "wamid.GONE" });
    expect(rig.number.sent).toMatchObject([
      { to: group, group: true, replyTo: id },
      { to: group, group: true },
    ]);
    expect(rig.number.sent[1]?.replyTo).toBeUndefined();
  });

  const outcomes: readonly (readonly [string, Fault, Record<string, unknown>])[] = [
    ["the 24-hour window is closed", faults.windowClosed, { status: "failed", code: "window_closed" }],
    ["nobody is there", faults.undeliverable, { status: "failed", code: "undeliverable" }],
    ["a number would be needed", faults.noUserId, { status: "failed", code: "bsuid_unsupported" }],
    [
      "people report the number",
      { kind: "error", status: 400, code: 131048 },
      { status: "failed", code: "spam_limited" },
    ],
    ["an unheard-of error", { kind: "error", status: 400, code: 987654 }, { status: "failed", code: "meta_987654" }],
    ["the number's throughput", faults.throughput, { status: "retry", code: "rate_limited", afterMs: 2_000 }],
    ["the account's limit", { kind: "error", status: 400, code: 80007 }, { status: "retry", code: "rate_limited" }],
    ["the app's limit", { kind: "error", status: 400, code: 4, retryAfter: 7 }, { status: "retry", afterMs: 7_000 }],
    [
      "a 429 without a code",
      { kind: "garbage", status: 429, body: "slow down", taken: false },
      { status: "retry", code: "rate_limited" },
    ],
    ["a token that has run out", faults.tokenExpired, { status: "retry", code: "unauthorized", afterMs: 50 }],
    [
      "a token that may not send",
      { kind: "error", status: 403, code: 10 },
      { status: "retry", code: "forbidden", afterMs: 50 },
    ],
    [
      "a wrong phone_number_id",
      { kind: "error", status: 400, code: 100, subcode: 33 },
      { status: "retry", code: "number_unknown" },
    ],
    ["a locked account", { kind: "error", status: 400, code: 131031 }, { status: "retry", code: "account_locked" }],
    ["Meta fails", faults.internal, { status: "unknown", code: "server_error" }],
    ["Meta's service is not there", { kind: "error", status: 400, code: 131016 }, { status: "unknown" }],
    ["a proxy fails", faults.badGateway, { status: "unknown", code: "server_error" }],
    [
      "an answer that is no JSON",
      { kind: "garbage", status: 200, body: "<html>", taken: true },
      { status: "unknown", code: "bad_answer" },
    ],
    [
      "an answer without an id",
      { kind: "garbage", status: 200, body: "{}", taken: true },
      { status: "unknown", code: "bad_answer" },
    ],
    [
      "something else lives there",
      { kind: "garbage", status: 404, body: "nothing here", taken: false },
      { status: "retry", code: "graph_url" },
    ],
    [
      "a redirect, which is not followed",
      { kind: "garbage", status: 302, body: "", taken: false },
      { status: "retry", code: "graph_url" },
    ],
    ["a connection cut after the message", { kind: "reset", taken: true }, { status: "unknown" }],
  ];
  it.each(outcomes)("tells apart what it comes to: %s", async (_, fault, expected) => {
    rig.number.faults.add("send", fault);
    const result = await one.adapter.send(to());
    expect(result).toMatchObject(expected);
    if (result.status !== "accepted") expect(result.reason).toMatch(/^\S.*[.]$/);
    for (const secret of [rig.number.token, ana.phone ?? "", rig.app.secret]) {
      expect(JSON.stringify([result, one.host.logs])).not.toContain(secret);
    }
  });

  it("keeps what may be a number or a token out of what it repeats of Meta's words", async () => {
    const details = `(#99) Cannot reach +54 9 11 5555-0001 with ${rig.number.token}`;
    rig.number.faults.add("send", { kind: "error", status: 400, code: 99, details });
    const result = await one.adapter.send(to());
    expect(JSON.stringify(result)).toContain("Cannot reach +… with <token>");
  });

  it("gives up in time when Meta does not answer, and does not know what came of it", async () => {
    one = rig.process({ timing: impatientTiming });
    rig.number.faults.add("send", { kind: "hang", taken: true });
    expect(await one.adapter.send(to())).toMatchObject({ status: "unknown", code: "timeout" });
  });

  it("knows that nothing was sent where nobody could be reached, and where it was stopped before", async () => {
    const stop = new AbortController();
    stop.abort();
    expect(await one.adapter.send(to(), stop.signal)).toMatchObject({ status: "retry", code: "aborted" });
    await rig.graph.unreachable(true);
    expect(await one.adapter.send(to())).toMatchObject({ status: "retry", code: "econnrefused" });
    await rig.graph.unreachable(false);
    expect(rig.number.sent).toEqual([]);
  });

  it("sends nothing while it cannot look up where the person is", async () => {
    const away: CloudRig["store"] = { ...rig.store, get: () => Promise.reject(new Error("away")) };
    one = rig.process({}, { store: away });
    expect(await one.adapter.send(to())).toMatchObject({ status: "retry", code: "store_unavailable" });
    expect(rig.number.sent).toEqual([]);
  });

  it("waits four times as long each time that a person was sent too much, and forgets it when one got through", async () => {
    rig.number.faults.add("send", faults.pairLimit, 6);
    const waits: unknown[] = [];
    for (let times = 0; times < 6; times++) {
      const result = await one.adapter.send(to());
      waits.push(result.status === "retry" ? result.afterMs : result.status);
    }
    expect(waits).toEqual([1_000, 4_000, 16_000, 64_000, 256_000, 256_000]);
    expect(await one.adapter.send(to())).toMatchObject({ status: "accepted" });
    rig.number.faults.add("send", faults.pairLimit);
    expect(await one.adapter.send(to())).toMatchObject({ afterMs: 1_000, code: "pair_rate_limited" });
  });

  describe("when the window is closed", () => {
    const lateTemplate = { name: "confirm_again", language: "es_AR" };
    const notice = "Para confirmar respondé SI. Voy a ejecutar: praxis_crear_record con monto: 184000";
    const text = `Debe $184.000.\n\n${notice}`;
    const late = () => to(ana, { text, noticeFrom: text.length - notice.length });

    it("carries a notice by the configured template, with the whole notice at its end", async () => {
      one = await rig.open({ lateTemplate });
      rig.number.types(ana, "hola");
      await until(() => one.host.received.length === 1);
      rig.number.faults.add("send", faults.windowClosed);
      expect(await one.adapter.send(late())).toMatchObject({ status: "accepted" });
      expect(rig.number.sent).toMatchObject([
        { type: "template", template: "confirm_again", text: `Debe $184.000. ${notice}` },
      ]);
      expect(payloads().at(-1)).toMatchObject({
        template: {
          name: "confirm_again",
          language: { code: "es_AR" },
          components: [{ type: "body", parameters: [{ type: "text" }] }],
        },
      });
    });

    it("uses it at once where the person has not written for a day: Meta may say only later that a text failed", async () => {
      one = await rig.open({ lateTemplate });
      expect(await one.adapter.send(late())).toMatchObject({ status: "accepted" });
      rig.number.types(ana, "hola");
      await until(() => one.host.received.length === 1);
      expect(await one.adapter.send(late())).toMatchObject({ status: "accepted" });
      const beto = rig.number.person("Beto");
      rig.number.types(beto, "hola", {}, { at: Date.now() - 25 * 3_600_000 });
      await until(() => one.host.received.length === 2);
      await one.adapter.send({ ...late(), chat: beto.phone ?? "" });
      expect(rig.number.sent.map(({ type }) => type)).toEqual(["template", "text", "template"]);
    });

    it("shows the notice alone where the answer before it does not fit with it", async () => {
      one = rig.process({ lateTemplate });
      const long = `${"a".repeat(1_000)}\n\n${notice}`;
      await one.adapter.send(to(ana, { text: long, noticeFrom: long.length - notice.length }));
      expect(rig.number.sent).toMatchObject([{ type: "template", text: notice }]);
    });

    it("fails, rather than to change a notice", async () => {
      one = rig.process({ lateTemplate });
      rig.number.faults.add("send", faults.windowClosed);
      rig.number.faults.add("send", faults.windowClosed);
      for (const notice of ["x".repeat(1_025), "nota: a     b"]) {
        const result = await one.adapter.send(to(ana, { text: notice, noticeFrom: 0 }));
        expect(result).toMatchObject({ status: "failed", code: "window_closed" });
      }
      expect(rig.number.sent).toEqual([]);
    });

    it("fails where there is no template, and for what is no notice", async () => {
      rig.number.faults.add("send", faults.windowClosed, 2);
      expect(await one.adapter.send(late())).toMatchObject({ status: "failed", code: "window_closed" });
      one = rig.process({ lateTemplate });
      expect(await one.adapter.send(to())).toMatchObject({ status: "failed", code: "window_closed" });
    });
  });

  describe("signs of life", () => {
    const reads = () => rig.number.calls.filter(({ kind }) => kind === "read").map(({ payload }) => payload);

    it("are blue ticks and “typing…” in one call, which needs no second while it is shown", async () => {
      one = await rig.open();
      const id = rig.number.types(ana, "hola");
      await until(() => one.host.received.length === 1);
      const chat = ana.phone ?? "";
      await one.adapter.markRead({ chat, sender: chat, id });
      await one.adapter.typing(chat);
      expect(reads()).toEqual([
        { messaging_product: "whatsapp", status: "read", message_id: id, typing_indicator: { type: "text" } },
      ]);
      await one.adapter.send(to());
      await one.adapter.typing(chat);
      expect(reads()).toHaveLength(2);
    });

    it("are shown again before Meta takes them away", async () => {
      let now = 1_750_000_000_000;
      one = rig.process({}, { now: () => now });
      const chat = ana.phone ?? "";
      await one.adapter.markRead({ chat, sender: chat, id: "wamid.A" });
      now += 19_000;
      await one.adapter.typing(chat);
      expect(reads()).toHaveLength(1);
      now += 2_000;
      await one.adapter.typing(chat);
      expect(reads()).toHaveLength(2);
    });

    it("need a message of the person, and harm nothing when they fail", async () => {
      await one.adapter.typing("5491100000000");
      expect(reads()).toEqual([]);
      rig.number.faults.add("read", { kind: "reset", taken: false });
      await one.adapter.markRead({ chat: "1", sender: "1", id: "wamid.X" });
    });
  });

  describe("the access token", () => {
    it("is asked for at start, and what is wrong with it is said in words", async () => {
      rig.number.expired = true;
      await one.adapter.start();
      await until(() => one.adapter.status().state === "reconnecting");
      expect(one.adapter.status().reason).toMatch(/access token/);
      rig.number.expired = false;
      await until(() => one.adapter.status().state === "open");
      expect(one.adapter.status().reason).toBeUndefined();
    });

    it("that runs out while messages wait lets them wait, tells the operator, and goes on when there is a better one", async () => {
      await one.adapter.start();
      await until(() => rig.number.calls.some(({ kind }) => kind === "number"));
      rig.number.faults.add("send", faults.tokenExpired);
      expect(await one.adapter.send(to())).toMatchObject({ status: "retry", code: "unauthorized", afterMs: 50 });
      expect(one.adapter.status()).toMatchObject({ state: "reconnecting" });
      expect(one.host.statuses.at(-1)?.reason).toMatch(/access token/);
      expect(await one.adapter.send(to())).toMatchObject({ status: "accepted" });
      expect(one.adapter.status().state).toBe("open");
    });

    it("that may only send is good enough", async () => {
      rig.number.faults.add("number", { kind: "error", status: 400, code: 100, subcode: 33 });
      await one.adapter.start();
      await until(() => rig.number.calls.some(({ kind }) => kind === "number"));
      expect(await one.adapter.send(to())).toMatchObject({ status: "accepted" });
      expect(one.host.statuses.map(({ state }) => state)).not.toContain("reconnecting");
    });
  });
});
