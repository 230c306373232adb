import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createWhatsappCloudAdapter } from "../../../adapters/whatsapp-cloud/index.js";
import { DaleError } from "../../../src/errors/index.js";
import { callOf, encode, signatureOf } from "../../fakes/whatsapp-graph/index.js";
import { createTestHost } from "../../fixtures/channel-host.js";
import { until } from "../../fixtures/telegram.js";
import {
  type CloudProcess,
  type CloudRig,
  cloudOptions,
  createCloudRig,
  verifyToken,
} from "../../fixtures/whatsapp-cloud.js";

const path = "http://dale.example/webhooks/whatsapp-cloud/main";

describe("WhatsApp Cloud API: the webhook", () => {
  let rig: CloudRig;
  beforeEach(async () => {
    rig = await createCloudRig();
  });
  afterEach(() => rig.close());

  const texts = (one: CloudProcess) => one.host.received.map(({ text }) => text);
  const post = (one: CloudProcess, body: Buffer, signature: string | null = signatureOf(body, rig.app.secret)) =>
    one.adapter.handle(
      new Request(path, {
        method: "POST",
        body: new Uint8Array(body),
        headers: signature === null ? {} : { "x-hub-signature-256": signature },
      }),
      "/",
    );
  const metadata = () => ({ display_phone_number: rig.number.display, phone_number_id: rig.number.id });
  let serial = 0;
  const text = (body: string, from = "5491155550001") => ({
    from,
    id: `wamid.T${++serial}`,
    timestamp: "1750000000",
    type: "text",
    text: { body },
  });
  const call = (...values: readonly Readonly<Record<string, unknown>>[]) =>
    callOf(
      "1",
      values.map((value) => ({
        field: "messages",
        value: { messaging_product: "whatsapp", metadata: metadata(), ...value },
      })),
    );

  describe("when Meta asks whose it is", () => {
    const ask = (one: CloudProcess, query: Record<string, string>) =>
      one.adapter.handle(new Request(`${path}?${new URLSearchParams(query)}`), "/");
    const right = { "hub.mode": "subscribe", "hub.verify_token": verifyToken, "hub.challenge": "11582<b>0</b>1444" };

    it("gives the challenge back, as plain text", async () => {
      const answer = await ask(rig.process(), right);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toMatch(/^text\/plain/);
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
      expect(await answer.text()).toBe(right["hub.challenge"]);
    });

    it("refuses whoever does not know the token, and asks nothing else", async () => {
      const one = rig.process();
      const wrong: Record<string, string>[] = [
        {},
        { ...right, "hub.verify_token": "" },
        { ...right, "hub.verify_token": `${verifyToken}x` },
        { ...right, "hub.verify_token": verifyToken.slice(1) },
        { ...right, "hub.mode": "unsubscribe" },
        { "hub.mode": "subscribe", "hub.verify_token": verifyToken },
      ];
      for (const query of wrong) {
        const answer = await ask(one, query);
        expect(answer.status).toBe(403);
        expect(await answer.text()).toBe("");
      }
    });
  });

  describe("the signature", () => {
    it("is over the bytes as they came: escaped letters and slashes are not what JSON.stringify writes", async () => {
      const one = rig.process();
      const body = encode(call({ messages: [text("¿Dónde? https://dale.example/ 👍")] }));
      expect(body.toString("latin1")).toContain("\\u00bfD\\u00f3nde? https:\\/\\/dale.example\\/ \\ud83d\\udc4d");
      expect((await post(one, body)).status).toBe(200);
      expect(texts(one)).toEqual(["¿Dónde? https://dale.example/ 👍"]);
      const again = Buffer.from(JSON.stringify(JSON.parse(body.toString("utf8"))));
      expect((await post(one, again, signatureOf(body, rig.app.secret))).status).toBe(401);
    });

    it("is refused in every other form, whatever its length, and nothing is taken", async () => {
      const one = rig.process();
      const body = encode(call({ messages: [text("si")] }));
      const right = signatureOf(body, rig.app.secret);
      const wrong = [
        null,
        "",
        "sha256=",
        right.slice(0, -1),
        `${right}0`,
        right.replace("sha256=", "sha1="),
        right.slice("sha256=".length),
        `sha256=${"0".repeat(64)}`,
        `sha256=${"z".repeat(64)}`,
        signatureOf(body, "another secret"),
        signatureOf(Buffer.concat([body, Buffer.from(" ")]), rig.app.secret),
      ];
      for (const signature of wrong) expect([401, 403]).toContain((await post(one, body, signature)).status);
      expect(one.host.received).toEqual([]);
      expect(one.host.counts).toEqual(wrong.map(() => "webhook_refused"));
      expect((await post(one, body)).status).toBe(200);
    });

    it("has a secret to be checked against, or there is no adapter", () => {
      const options = { ...cloudOptions(rig.graph, rig.app, rig.number), appSecret: "" };
      expect(() => createWhatsappCloudAdapter(options, createTestHost().host)).toThrow(DaleError);
    });
  });

  describe("one call", () => {
    it("may hold many entries, changes, messages and statuses: all are taken, each with its own contact", async () => {
      const one = rig.process();
      const contacts = [
        // Argentina's 9 is missing.
        { profile: { name: "Beto" }, wa_id: "541155550002" },
        { profile: { name: "Ana" }, wa_id: "5491155550001", user_id: "AR.1" },
      ];
      const statuses = [
        { id: "wamid.S1", status: "delivered", timestamp: "1750000001", recipient_id: "5491155550001" },
        { id: "wamid.S2", status: "read", timestamp: "1750000002", recipient_id: "5491155550002" },
      ];
      const body = encode(
        call(
          { contacts, messages: [text("uno"), text("dos", "5491155550002")] },
          { statuses },
          { contacts: [contacts[0]], messages: [text("tres")] },
        ),
      );
      expect((await post(one, body)).status).toBe(200);
      const said = (from: string) => one.host.received.filter(({ sender }) => sender === from);
      expect(said("5491155550002")).toMatchObject([{ text: "dos", senderName: "Beto" }]);
      expect(said("5491155550001")).toMatchObject([{ text: "uno", senderName: "Ana" }, { text: "tres" }]);
      // Only another's contact came along.
      expect(said("5491155550001")[1]?.senderName).toBeUndefined();
      expect(one.host.receipts.map(({ ref, level }) => [ref, level])).toEqual([
        ["wamid.S1", "delivered"],
        ["wamid.S2", "read"],
      ]);
    });

    it("may hold a thousand updates", async () => {
      const one = rig.process({ timing: { webhook: 5_000 } });
      const messages = Array.from({ length: 1_000 }, (_, index) =>
        text(`${index}`, `54911${10_000_000 + (index % 200)}`),
      );
      expect((await post(one, encode(call({ messages })))).status).toBe(200);
      expect(one.host.received).toHaveLength(1_000);
      const ofOne = one.host.received.filter(({ sender }) => sender === "5491110000007");
      expect(ofOne.map(({ text: said }) => said)).toEqual(["7", "207", "407", "607", "807"]);
    });

    it("is behind an earlier one that tells of the same person, however long that takes", async () => {
      let release = () => {};
      const slow = new Promise<void>((resolve) => {
        release = resolve;
      });
      const one = rig.process(
        { timing: { webhook: 5_000 } },
        { beforeReceive: ({ text: said }) => (said === "primero" ? slow : Promise.resolve()) },
      );
      const first = post(one, encode(call({ messages: [text("primero")] })));
      const second = post(one, encode(call({ messages: [text("después"), text("otra", "5491155550002")] })));
      await until(() => texts(one).includes("otra"));
      expect(texts(one)).toEqual(["otra"]);
      release();
      expect([(await first).status, (await second).status]).toEqual([200, 200]);
      expect(texts(one)).toEqual(["otra", "primero", "después"]);
    });

    it("may come again, and again: each message is taken once, under the same id", async () => {
      const one = rig.process();
      const body = encode(call({ messages: [text("una vez")] }));
      for (let times = 0; times < 3; times++) expect((await post(one, body)).status).toBe(200);
      expect(texts(one)).toEqual(["una vez"]);
      expect(one.host.duplicates).toBe(2);
    });

    it("is left with Meta, whole, when the store is away, and takes nothing twice when it comes again", async () => {
      const one = rig.process();
      const ana = rig.number.person("Ana");
      await one.adapter.start();
      await rig.app.subscribe(`${rig.site.url}/webhooks/whatsapp-cloud/main`, verifyToken);
      one.host.storeAway(true);
      rig.app.hold(true);
      for (const said of ["uno", "dos"]) rig.number.types(ana, said);
      rig.number.status("wamid.X", "delivered");
      rig.app.hold(false);
      await until(() => rig.app.pushes().some(({ status }) => status === 503));
      expect(one.host.received).toEqual([]);
      one.host.storeAway(false);
      await until(() => rig.app.pending() === 0);
      expect(texts(one)).toEqual(["uno", "dos"]);
      expect(one.host.receipts).toHaveLength(1);
    });

    it("keeps the rest of a call that holds one message that cannot be taken", async () => {
      const one = rig.process(
        {},
        {
          beforeReceive: async ({ text: said }) => {
            if (said === "no") throw new DaleError("store_unavailable", "The store is away.");
          },
        },
      );
      const body = encode(call({ messages: [text("no"), text("si", "5491155550002")] }));
      const answer = await post(one, body);
      expect(answer.status).toBe(503);
      expect(answer.headers.get("retry-after")).toBe("1");
      expect(texts(one)).toEqual(["si"]);
    });

    it("is answered 503 when the store does not answer in time, and is taken all the same when it does", async () => {
      let release = () => {};
      const gate = new Promise<void>((resolve) => {
        release = resolve;
      });
      const one = rig.process({}, { beforeReceive: () => gate });
      const body = encode(call({ messages: [text("despacio")] }));
      expect((await post(one, body)).status).toBe(503);
      release();
      await until(() => one.host.received.length === 1);
    });

    it("is answered 200 when nothing in it can be read: it would come again for seven days", async () => {
      const one = rig.process();
      const calls: unknown[] = [
        {},
        { object: "page", entry: [{ messaging: [] }] },
        { object: "whatsapp_business_account" },
        {
          object: "whatsapp_business_account",
          entry: [{ changes: [7, null, { field: "messages" }, { field: "messages", value: {} }] }],
        },
        call({
          messages: [
            7,
            {},
            { ...text("x"), id: "" },
            { ...text("x"), timestamp: "yesterday" },
            { ...text("x"), text: 7 },
          ],
        }),
        call({ messages: [{ ...text("x"), text: undefined }] }),
        call({ statuses: [7, { id: "x" }, { id: "wamid.1", status: "delivered", timestamp: "soon" }] }),
        callOf("1", [{ field: "account_update", value: { event: "VERIFIED_ACCOUNT" } }]),
      ];
      for (const each of calls) expect((await post(one, encode(each))).status).toBe(200);
      expect(one.host.received).toEqual([]);
      expect(one.host.receipts).toEqual([]);
      for (const counted of [
        "malformed_change",
        "other_object",
        "malformed_message",
        "malformed_status",
        "other_field",
      ]) {
        expect(one.host.counts).toContain(counted);
      }
    });

    it("takes what it can read of a call with something in it that it cannot", async () => {
      const one = rig.process();
      const body = encode(
        call({ contacts: [7, null], messages: [{ broken: true }, text("entera")], statuses: [null] }),
      );
      expect((await post(one, body)).status).toBe(200);
      expect(texts(one)).toEqual(["entera"]);
    });

    it("is refused when it is no JSON object, too large, or asked otherwise than by POST", async () => {
      const one = rig.process();
      for (const garbage of ["", "{", "null", "[]", '"text"', "7"]) {
        expect((await post(one, Buffer.from(garbage))).status).toBe(400);
      }
      expect((await post(one, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]))).status).toBe(400);
      expect((await post(one, Buffer.alloc(5 * 1024 * 1024, 0x20))).status).toBe(413);
      expect((await one.adapter.handle(new Request(path, { method: "PUT" }), "/")).status).toBe(405);
      expect((await one.adapter.handle(new Request(path), "/elsewhere")).status).toBe(404);
    });

    it("is refused after it was stopped, so that another process gets it", async () => {
      const one = await rig.open();
      await one.adapter.stop();
      expect((await post(one, encode(call({ messages: [text("tarde")] })))).status).toBe(503);
      expect(one.host.received).toEqual([]);
    });
  });

  describe("for several numbers", () => {
    const other = { display_phone_number: "15550009999", phone_number_id: "999" };

    it("answers 200 to a number that nobody here knows, counts it, and warns", async () => {
      const one = rig.process();
      const body = encode(
        callOf("1", [
          { field: "messages", value: { metadata: other, messages: [text("para nadie")] } },
          { field: "messages", value: { metadata: metadata(), messages: [text("para mí")] } },
        ]),
      );
      expect((await post(one, body)).status).toBe(200);
      expect(texts(one)).toEqual(["para mí"]);
      expect(one.host.counts).toContain("unknown_phone_number_id");
      expect(one.host.logs.map(({ level }) => level)).toContain("warn");
    });

    it("hands another number's messages and statuses to that number's account", async () => {
      const sales = rig.app.number();
      const second = createTestHost();
      const sibling = createWhatsappCloudAdapter(
        { ...cloudOptions(rig.graph, rig.app, sales), name: "sales" },
        second.host,
      );
      const one = await rig.open({ siblings: (id) => (id === sales.id ? sibling : undefined) });
      const ana = rig.number.person("Ana");
      rig.app.hold(true);
      rig.number.types(ana, "a cobranzas");
      sales.types(ana, "a ventas");
      sales.status("wamid.V", "delivered");
      rig.app.hold(false);
      await until(() => rig.app.pending() === 0);
      expect(texts(one)).toEqual(["a cobranzas"]);
      expect(second.received).toMatchObject([{ account: "sales", text: "a ventas", sender: ana.phone }]);
      expect(second.receipts).toMatchObject([{ ref: "wamid.V", level: "delivered" }]);
      expect(one.host.receipts).toEqual([]);
    });

    it("leaves the call with Meta when the other account cannot take its part", async () => {
      const sales = rig.app.number();
      const second = createTestHost();
      second.storeAway(true);
      const sibling = createWhatsappCloudAdapter(
        { ...cloudOptions(rig.graph, rig.app, sales), name: "sales" },
        second.host,
      );
      const one = rig.process({ siblings: () => sibling });
      const value = {
        metadata: { display_phone_number: sales.display, phone_number_id: sales.id },
        messages: [text("x")],
      };
      const body = encode(callOf("1", [{ field: "messages", value }]));
      expect((await post(one, body)).status).toBe(503);
      second.storeAway(false);
      expect((await post(one, body)).status).toBe(200);
      await sibling.stop();
      expect((await post(one, body)).status).toBe(503);
    });
  });
});
