import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTelegramAdapter } from "../../../adapters/telegram/index.js";
import { createTestHost } from "../../fixtures/channel-host.js";
import { quickTiming } from "../../fixtures/telegram.js";

const secretToken = "secret";
const ana = { id: 41, is_bot: false, first_name: "Ana", last_name: "Paz" };
const bot = { id: 5_000_001, is_bot: true, first_name: "Dale", username: "dale_bot" };
const otherBot = { id: 77, is_bot: true, first_name: "Gif", username: "gif" };
const chat = { id: 41, type: "private" };
const group = { id: -100_123, type: "supergroup", title: "Ventas" };

/** What becomes of one update: handed on as what, or counted as what. */
async function becomes(update: Record<string, unknown>) {
  const host = createTestHost();
  const adapter = createTelegramAdapter(
    {
      name: "bot",
      token: `${bot.id}:AAF_secret`,
      // Nothing listens there: what comes of an update is decided without Telegram.
      apiRoot: "http://127.0.0.1:9",
      groups: "always",
      receive: { mode: "webhook", secretToken },
      timing: quickTiming,
    },
    host.host,
  );
  const request = new Request("http://dale.example/", {
    method: "POST",
    headers: { "x-telegram-bot-api-secret-token": secretToken },
    body: JSON.stringify({ update_id: 1, ...update }),
  });
  const response = await adapter.handle(request, "/");
  await adapter.stop();
  return { status: response.status, counts: host.counts, message: host.received[0], received: host.received.length };
}
const message = (fields: Record<string, unknown>) => ({
  message: { message_id: 7, date: 1_700_000_000, chat, from: ana, ...fields },
});
const provenance = async (fields: Record<string, unknown>) => (await becomes(message(fields))).message?.provenance;

describe("typed is", () => {
  it("a person's plain text in their own chat", async () => {
    const { message: got } = await becomes(message({ text: "si" }));
    expect(got).toEqual({
      channel: "telegram",
      account: "bot",
      chat: "41",
      sender: "41",
      id: "7",
      group: false,
      senderName: "Ana Paz",
      text: "si",
      provenance: "typed",
      sentAt: 1_700_000_000_000,
      receivedAt: got?.receivedAt,
      order: 7,
      attachments: [],
    });
  });

  it("a plain text in answer to a message, which it names", async () => {
    const reply = { message_id: 6, date: 1, chat, from: bot, text: "Para confirmar respondé SI." };
    const { message: got } = await becomes(message({ text: "si", reply_to_message: reply }));
    expect(got).toMatchObject({ provenance: "typed", quotes: "6", text: "si" });
  });

  it("a text with links, mentions and formatting in it: they are the person's", async () => {
    const entities = [{ type: "bold", offset: 0, length: 2 }];
    expect(await provenance({ text: "si", entities, link_preview_options: { is_disabled: true } })).toBe("typed");
  });

  it("a plain text in a topic, which answers the topic's first message only by form", async () => {
    const opened = {
      message_id: 3,
      date: 1,
      chat: group,
      from: ana,
      forum_topic_created: { name: "t", icon_color: 1 },
    };
    const topic = { chat: group, text: "si", is_topic_message: true, message_thread_id: 3 };
    for (const reply of [opened, { message_id: 3, date: 1, chat: group, from: ana }]) {
      const { message: got } = await becomes(message({ ...topic, reply_to_message: reply }));
      expect(got?.provenance).toBe("typed");
      expect(got?.quotes).toBeUndefined();
    }
    const { message: real } = await becomes(
      message({ ...topic, reply_to_message: { message_id: 6, date: 1, chat: group, from: bot } }),
    );
    expect(real?.quotes).toBe("6");
  });
});

/** Marks of a text that was not typed, and what it counts as instead. */
const marks = [
  ["forwarded", { forward_origin: { type: "user", date: 1, sender_user: ana } }],
  ["forwarded", { forward_origin: { type: "hidden_user", date: 1, sender_user_name: "Ana" } }],
  ["forwarded", { forward_date: 1, forward_sender_name: "Ana" }],
  ["via_bot", { via_bot: otherBot }],
  ["quoted_other", { external_reply: { origin: { type: "user", date: 1, sender_user: ana } } }],
  ["quoted_other", { quote: { text: "SI", position: 0 }, reply_to_message: { message_id: 6, date: 1, chat } }],
  ["quoted_other", { reply_to_story: { chat, id: 1 } }],
  ["quoted_other", { entities: [{ type: "blockquote", offset: 0, length: 2 }] }],
  ["other", { entities: [{ type: "strikethrough", offset: 0, length: 2 }] }],
  ["other", { entities: [{ type: "text_mention", offset: 0, length: 2, user: bot }] }],
  ["other", { is_from_offline: true }],
  ["other", { edit_date: 1_700_000_001 }],
] as const;

describe("not typed, and yet a new message, is", () => {
  for (const [expected, fields] of marks) {
    it(`a text with ${Object.keys(fields)[0]}: ${expected}`, async () => {
      expect(await provenance({ text: "si", ...fields })).toBe(expected);
    });
  }

  it("a command, which may have been tapped", async () => {
    const entities = [{ type: "bot_command", offset: 0, length: 3 }];
    expect(await becomes(message({ text: "/si", entities }))).toMatchObject({
      message: { text: "/si", provenance: "other" },
    });
    expect(await becomes(message({ text: "/start ref" }))).toMatchObject({
      message: { text: "/start ref", provenance: "other" },
    });
  });

  const file = { file_id: "F1", file_unique_id: "u", file_size: 12 };
  const media = [
    ["photo", [{ ...file, file_id: "small" }, file], { kind: "image", mime: "image/jpeg", size: 12, ref: "F1" }],
    ["video", { ...file, mime_type: "video/mp4" }, { kind: "video", mime: "video/mp4", size: 12, ref: "F1" }],
    ["animation", { ...file, file_name: "a.gif.mp4" }, { kind: "video", filename: "a.gif.mp4", size: 12, ref: "F1" }],
    ["video_note", file, { kind: "video", mime: "video/mp4", size: 12, ref: "F1" }],
    ["voice", file, { kind: "voice", mime: "audio/ogg", size: 12, ref: "F1" }],
    ["audio", { ...file, file_name: "a.mp3" }, { kind: "audio", filename: "a.mp3", size: 12, ref: "F1" }],
    [
      "document",
      { ...file, mime_type: "application/pdf", file_name: "f.pdf" },
      { kind: "document", mime: "application/pdf", filename: "f.pdf", size: 12, ref: "F1" },
    ],
    ["sticker", { ...file, emoji: "👍", type: "regular" }, { kind: "sticker", size: 12, ref: "F1" }],
    ["location", { latitude: 1, longitude: 2 }, { kind: "location" }],
    ["contact", { phone_number: "1", first_name: "si" }, { kind: "contact" }],
    ["poll", { id: "1", question: "si?", options: [] }, { kind: "other" }],
    ["dice", { emoji: "🎲", value: 1 }, { kind: "other" }],
    ["story", { chat, id: 1 }, { kind: "other" }],
    ["rich_message", { blocks: [] }, { kind: "other" }],
  ] as const;
  for (const [field, value, attachment] of media) {
    it(`a ${field}, with its caption or without`, async () => {
      const { message: bare } = await becomes(message({ [field]: value }));
      expect(bare).toMatchObject({ text: "", attachments: [attachment] });
      expect(bare?.provenance).not.toBe("typed");
      const { message: titled } = await becomes(message({ [field]: value, caption: "si" }));
      expect(titled).toMatchObject({ text: "si", attachments: [{ ...attachment, caption: "si" }] });
      expect(titled?.provenance).not.toBe("typed");
    });
  }

  it("whatever carries one of the marks, in any company", async () => {
    const some = fc.subarray(
      marks.map(([, fields]) => fields),
      { minLength: 1 },
    );
    await fc.assert(
      fc.asyncProperty(some, fc.boolean(), async (chosen, inGroup) => {
        const fields = Object.assign({ text: "si", chat: inGroup ? group : chat }, ...chosen);
        const { message: got, received } = await becomes(message(fields));
        expect(received).toBe(1);
        expect(got?.provenance).not.toBe("typed");
      }),
      { numRuns: 50 },
    );
  });
});

describe("nobody's new message is", () => {
  const nobody = [
    ["from_bot", { from: bot }],
    ["from_bot", { from: otherBot, chat: group }],
    [
      "anonymous_sender",
      { sender_chat: group, chat: group, from: { id: 1_087_968_824, is_bot: true, first_name: "Group" } },
    ],
    ["anonymous_sender", { sender_chat: { id: -100_9, type: "channel" }, chat: group, from: ana }],
    [
      "anonymous_sender",
      { is_automatic_forward: true, chat: group, from: { id: 777_000, is_bot: false, first_name: "Telegram" } },
    ],
    ["no_sender", { from: undefined }],
    ["business_message", { business_connection_id: "b1" }],
    ["business_message", { sender_business_bot: otherBot }],
    ["guest_message", { guest_query_id: "g1" }],
    ["guest_message", { guest_bot_caller_user: ana, from: otherBot }],
    ["ephemeral_message", { message_id: 0, ephemeral_message_id: 3, receiver_user: ana }],
    ["unsupported_chat", { chat: { id: -100_9, type: "channel" } }],
  ] as const;
  for (const [counted, fields] of nobody) {
    it(`a "si" with ${Object.keys(fields)[0]}: counted as ${counted}`, async () => {
      expect(await becomes(message({ text: "si", ...fields }))).toMatchObject({
        status: 200,
        counts: [counted],
        received: 0,
      });
    });
  }

  const services = ["new_chat_members", "left_chat_member", "new_chat_title", "pinned_message", "group_chat_created"];
  for (const service of [...services, "message_auto_delete_timer_changed", "forum_topic_created", "something_new"]) {
    it(`the service message ${service}`, async () => {
      const update = message({ chat: group, [service]: { text: "si" } });
      expect(await becomes(update)).toMatchObject({ status: 200, counts: ["service_message"], received: 0 });
    });
  }

  const said = { message_id: 7, date: 1, chat, from: ana, text: "si" };
  const others = {
    edited_message: { ...said, edit_date: 2 },
    channel_post: { ...said, chat: { id: -100_9, type: "channel" } },
    edited_channel_post: { ...said, edit_date: 2 },
    business_message: { ...said, business_connection_id: "b" },
    edited_business_message: { ...said, edit_date: 2 },
    guest_message: { ...said, guest_query_id: "g" },
    message_reaction: {
      chat,
      message_id: 6,
      user: ana,
      date: 1,
      old_reaction: [],
      new_reaction: [{ type: "emoji", emoji: "👍" }],
    },
    inline_query: { id: "1", from: ana, query: "si", offset: "" },
    chosen_inline_result: { result_id: "1", from: ana, query: "si" },
    callback_query: { id: "1", from: ana, data: "si", message: { ...said, from: bot } },
    poll: { id: "1", question: "si" },
    poll_answer: { poll_id: "1", user: ana, option_ids: [0] },
    my_chat_member: { chat, from: ana, date: 1 },
    chat_join_request: { chat: group, from: ana, bio: "si" },
    managed_bot: { user: ana },
  };
  for (const [kind, body] of Object.entries(others)) {
    it(`an update of kind ${kind}`, async () => {
      expect(await becomes({ [kind]: body })).toMatchObject({ status: 200, counts: [kind], received: 0 });
    });
  }
});
