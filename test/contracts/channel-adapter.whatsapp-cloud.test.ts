import { setTimeout as sleep } from "node:timers/promises";
import { createWhatsappCloudAdapter } from "../../adapters/whatsapp-cloud/index.js";
import { faults, type Person as Someone, startFakeGraph } from "../fakes/whatsapp-graph/index.js";
import { startWebhookSite } from "../fixtures/telegram.js";
import { cloudOptions, impatientTiming, verifyToken } from "../fixtures/whatsapp-cloud.js";
import { type ChannelRig, channelAdapterContract, type Person } from "./channel-adapter.js";

channelAdapterContract({
  title: "WhatsApp Cloud API",
  skips: {
    standby: "any process may answer a webhook",
    order: "message ids of the Cloud API have no order",
  },
  create: createRig,
});

async function createRig(): Promise<ChannelRig> {
  const [graph, site] = await Promise.all([startFakeGraph(), startWebhookSite("whatsapp-cloud")]);
  const app = graph.app();
  const number = app.number();
  const [ana, beto] = [number.person("Ana"), number.person("Beto")];
  const group = number.group();
  const alone = (one: Someone): Person => ({ chat: one.phone ?? "", sender: one.phone ?? "", group: false });
  const member = (one: Someone): Person => ({ chat: group, sender: one.phone ?? "", group: true });
  const people: readonly { readonly person: Person; readonly someone: Someone }[] = [
    { person: alone(ana), someone: ana },
    { person: alone(beto), someone: beto },
    { person: member(ana), someone: ana },
    { person: member(beto), someone: beto },
  ];
  const [first, second, third, fourth] = people.map(({ person }) => person);
  if (!first || !second || !third || !fourth) throw new Error("four people make a rig");
  let last = "";
  /** Once for all adapters: later ones are served at the same place. */
  let subscribed: Promise<boolean> | undefined;
  const subscribe = () => {
    subscribed ??= app.subscribe(`${site.url}/webhooks/whatsapp-cloud/main`, verifyToken);
    return subscribed;
  };

  return {
    adapter(host) {
      const options = { ...cloudOptions(graph, app, number), timing: impatientTiming };
      const adapter = createWhatsappCloudAdapter(options, host.host);
      site.mount(adapter);
      return adapter;
    },
    people: [first, second],
    members: [third, fourth],
    secrets: [number.token, app.secret, verifyToken, number.display, ana.phone ?? "", beto.phone ?? ""],
    async personSends(text, { person = first, quotes } = {}) {
      await subscribe();
      const from = people.find((one) => one.person === person)?.someone ?? ana;
      const context = quotes === undefined ? {} : { context: { id: quotes, from: number.display } };
      last = number.types(from, text, context, person.group ? { group } : {});
    },
    async personMoves(move) {
      await subscribe();
      switch (move.kind) {
        case "forwards":
          last = number.types(ana, move.text, { context: { forwarded: true } });
          return;
        case "captions": {
          const image = { id: number.media(bytes), mime_type: "image/jpeg", sha256: "x", caption: move.text };
          last = number.message(ana, { type: "image", image });
          return;
        }
        case "records":
          number.message(ana, {
            type: "audio",
            audio: { id: number.media(bytes, "audio/ogg"), mime_type: "audio/ogg; codecs=opus", voice: true },
          });
          return;
        case "edits":
          number.message(ana, {
            type: "edit",
            edit: { original_message_id: last, message: { type: "text", text: { body: move.text } } },
          });
          return;
        case "reacts":
          number.message(ana, { type: "reaction", reaction: { message_id: last, emoji: "👍" } });
          return;
        case "presses":
          number.message(ana, {
            type: "interactive",
            interactive: { type: "button_reply", button_reply: { id: "1", title: move.text } },
          });
          return;
        case "echoes":
          app.tells({
            field: "smb_message_echoes",
            value: {
              messaging_product: "whatsapp",
              metadata: { display_phone_number: number.display, phone_number_id: number.id },
              message_echoes: [
                {
                  from: number.display,
                  to: ana.phone,
                  id: number.wamid(),
                  timestamp: "1",
                  type: "text",
                  text: { body: move.text },
                },
              ],
            },
          });
      }
    },
    async redeliver() {
      await app.redeliver();
    },
    sent: () =>
      number.sent.map(({ to, text, id, replyTo }) => ({
        chat: to,
        text,
        ref: id,
        ...(replyTo === undefined ? {} : { replyTo }),
      })),
    async fault(fault) {
      switch (fault) {
        case "refused":
          return number.faults.add("send", faults.undeliverable);
        case "rate_limited":
          return number.faults.add("send", faults.throughput);
        case "broken":
          return number.faults.add("send", faults.internal);
        case "silent":
          return number.faults.add("send", { kind: "hang", taken: true });
        case "cut":
          return number.faults.add("send", { kind: "reset", taken: true });
        case "unreachable":
          await graph.unreachable(true);
          await sleep(20);
      }
    },
    async reports(ref, level) {
      await subscribe();
      number.status(ref, level, level === "failed" ? { errors: [{ code: 131026 }] } : {});
    },
    async close() {
      await graph.close();
      await site.close();
    },
  };
}

const bytes = new TextEncoder().encode("the bytes of a file");
