import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TelegramOptions } from "../../../adapters/telegram/index.js";
import { type Chat, faults, type User } from "../../fakes/telegram-bot-api/index.js";
import { until } from "../../fixtures/telegram.js";
import { createTelegramRig, type TelegramProcess, type TelegramRig } from "../../fixtures/telegram-rig.js";

describe("Telegram in groups", () => {
  let rig: TelegramRig;
  let group: Chat;
  let ana: User;
  beforeEach(async () => {
    rig = await createTelegramRig();
    group = rig.bot.group();
    ana = rig.bot.person("Ana").user;
  });
  afterEach(() => rig.close());

  const open = async (groups: TelegramOptions["groups"]): Promise<TelegramProcess> => {
    const one = rig.process({ groups });
    await one.adapter.start();
    await until(() => one.adapter.status().state === "open");
    return one;
  };
  const drained = () => until(() => rig.bot.pending().length === 0);
  const says = (fields: Record<string, unknown>) => rig.bot.message(group, { from: ana, ...fields });
  const anonymous = () => ({ from: { id: 1_087_968_824, is_bot: true, first_name: "Group" }, sender_chat: group });
  const mention = (text: string, at: string) => ({
    text,
    entities: [{ type: "mention", offset: text.indexOf(at), length: at.length }],
  });

  it("overhears who is nobody to it, where somebody may answer them", async () => {
    const one = await open("always");
    rig.bot.message(group, { ...anonymous(), text: "¿Almorzamos?" });
    rig.bot.message(rig.bot.person("Beto").chat, { from: rig.bot.user, text: "si" });
    await drained();
    expect(one.host.overheard).toEqual([{ chat: String(group.id) }]);
    expect(one.host.received).toEqual([]);
  });

  it("hears only what is meant for the bot: answers to it, mentions and commands", async () => {
    const one = await open("mentioned");
    const name = `@${rig.bot.user.username}`;
    says({ text: "dale" });
    says(mention("dale @ana", "@ana"));
    says(mention(`dale ${name}x`, `${name}x`));
    says({ text: `dale ${name}` });
    says({ text: "dale", reply_to_message: { message_id: 1, date: 1, chat: group, from: ana } });
    says({ text: "/pagar@other_bot", entities: [{ type: "bot_command", offset: 0, length: 16 }] });
    says({ text: "dale", entities: [{ type: "text_mention", offset: 0, length: 4, user: ana }] });
    const meant = [
      mention(`🙂 ${name} cuánto debo?`, name),
      mention(`dale ${name.toUpperCase()}`, name.toUpperCase()),
      { text: "dale", reply_to_message: { message_id: 1, date: 1, chat: group, from: rig.bot.user } },
      { text: "Dale, dale", entities: [{ type: "text_mention", offset: 0, length: 4, user: rig.bot.user }] },
      { text: "/pagar", entities: [{ type: "bot_command", offset: 0, length: 6 }] },
      { text: `/pagar${name}`, entities: [{ type: "bot_command", offset: 0, length: 6 + name.length }] },
    ];
    for (const fields of meant) says(fields);
    says({
      photo: [{ file_id: rig.bot.file(new Uint8Array(1)) }],
      caption: `${name} mirá`,
      caption_entities: [{ type: "mention", offset: 0, length: name.length }],
    });
    await drained();
    // The text stays as it was typed: the mention is part of it.
    expect(one.host.received.map((message) => message.text)).toEqual([...meant.map((one) => one.text), `${name} mirá`]);
    expect(one.host.counts.filter((count) => count === "group_message")).toHaveLength(7);
    expect(rig.bot.calls.filter(({ method }) => method === "getMe").length).toBe(1);
  });

  it("keeps a yes that mentions the bot as it was typed: more than the word", async () => {
    const one = await open("mentioned");
    const text = `@${rig.bot.user.username} dale`;
    says({ text, entities: [{ type: "mention", offset: 0, length: text.length - 5 }] });
    await drained();
    expect(one.host.received[0]).toMatchObject({ text, provenance: "typed", group: true, sender: String(ana.id) });
  });

  it("does not take a message in a topic for an answer to the bot that opened the topic", async () => {
    const one = await open("mentioned");
    const opened = { message_id: 3, date: 1, chat: group, from: rig.bot.user, forum_topic_created: { name: "Pagos" } };
    says({ text: "dale", is_topic_message: true, message_thread_id: 3, reply_to_message: opened });
    await drained();
    expect(one.host.received).toEqual([]);
  });

  it("hears everything where it is told to, and nothing where it is told to", async () => {
    const all = await open("always");
    says({ text: "dale" });
    await until(() => all.host.received.length === 1);
    await all.adapter.stop();
    const none = await open("never");
    says({ text: "dale", reply_to_message: { message_id: 1, date: 1, chat: group, from: rig.bot.user } });
    await drained();
    expect(none.host.received).toEqual([]);
  });

  it("leaves a mention at Telegram until it knows its own name", async () => {
    rig.bot.faults.add("getMe", faults.internal, 2);
    const one = await open("mentioned");
    says(mention(`dale @${rig.bot.user.username}`, `@${rig.bot.user.username}`));
    await drained();
    expect(one.host.received).toHaveLength(1);
    expect(one.host.statuses.some(({ reason }) => reason?.includes("name") === true)).toBe(true);
    expect(one.adapter.status().state).toBe("open");
  });

  it("makes a button stop to spin, and takes its press for no message", async () => {
    const one = await open("always");
    rig.bot.update({ callback_query: { id: "991", from: ana, data: "si", message: { chat: group, text: "SI" } } });
    await until(() => rig.bot.calls.some(({ method }) => method === "answerCallbackQuery"));
    expect(rig.bot.calls.find(({ method }) => method === "answerCallbackQuery")?.payload).toEqual({
      callback_query_id: "991",
    });
    expect(one.host.received).toEqual([]);
  });
});

describe("a group that becomes a supergroup", () => {
  let rig: TelegramRig;
  let ana: User;
  let group: Chat;
  beforeEach(async () => {
    rig = await createTelegramRig();
    ana = rig.bot.person("Ana").user;
    group = rig.bot.group("group");
  });
  afterEach(() => rig.close());

  const open = async (): Promise<TelegramProcess> => {
    const one = rig.process();
    await one.adapter.start();
    await until(() => one.adapter.status().state === "open");
    return one;
  };
  const to = (chat: Chat) => ({ chat: String(chat.id), sender: String(ana.id), group: true });

  it("goes on as the same chat: messages come under the old id, answers go to the new one", async () => {
    const one = await open();
    rig.bot.message(group, { from: ana, text: "antes" });
    const now = rig.bot.migrate(group);
    rig.bot.message(now, { from: ana, text: "después" });
    await until(() => one.host.received.length === 2);
    const [before, after] = one.host.received;
    expect(after).toMatchObject({ chat: String(group.id), sender: before?.sender, text: "después" });
    const result = await one.adapter.send({ ...to(group), text: "hola", ...(after ? { replyTo: after.id } : {}) });
    expect(result.status).toBe("accepted");
    expect(rig.bot.sent.at(-1)).toMatchObject({ chat: { id: now.id }, text: "hola" });
    expect(rig.bot.sent.at(-1)?.reply_to_message).toBeDefined();
    await one.adapter.typing(String(group.id));
    expect(rig.bot.calls.at(-1)).toMatchObject({ method: "sendChatAction", payload: { chat_id: String(now.id) } });
  });

  it("never gives a message of the new chat the id or the place of an old one", async () => {
    const one = await open();
    const old = [1, 2, 3].map((n) => rig.bot.message(group, { from: ana, text: `antes ${n}` }));
    const sentBefore = await one.adapter.send({ ...to(group), text: "aviso" });
    const now = rig.bot.migrate(group);
    for (let n = 0; n < 6; n++) rig.bot.message(now, { from: ana, text: `después ${n}` });
    await until(() => one.host.received.length === old.length + 6);
    expect(new Set(one.host.received.map(({ id }) => id)).size).toBe(old.length + 6);
    const orders = one.host.received.map(({ order }) => order ?? 0);
    expect(orders).toEqual([...orders].sort((a, b) => a - b));
    const sentAfter = await one.adapter.send({ ...to(group), text: "otro aviso" });
    if (sentBefore.status !== "accepted" || sentAfter.status !== "accepted") throw new Error("not sent");
    expect(sentAfter.order).toBeGreaterThan(orders.at(-1) ?? 0);
    expect(one.host.received.map(({ id }) => id)).not.toContain(sentAfter.ref);

    const lastNumber = Number(rig.bot.sent.at(-1)?.message_id);
    const reply = { message_id: lastNumber, date: 1, chat: now, from: rig.bot.user };
    rig.bot.message(now, { from: ana, text: "si", reply_to_message: reply });
    await until(() => one.host.received.at(-1)?.text === "si");
    expect(one.host.received.at(-1)?.quotes).toBe(sentAfter.ref);
  });

  it("does not show an answer as one to a message of the old chat", async () => {
    const one = await open();
    const before = rig.bot.message(group, { from: ana, text: "antes" });
    await until(() => one.host.received.length === 1);
    rig.bot.migrate(group);
    await until(() => rig.bot.pending().length === 0);
    await one.adapter.send({ ...to(group), text: "hola", replyTo: String(before.message_id) });
    expect(rig.bot.calls.at(-1)?.payload).not.toHaveProperty("reply_parameters");
  });

  it("is found by a send that comes before Telegram's word of it, and sent to once", async () => {
    const one = await open();
    const now = rig.bot.migrate(group, { silently: true });
    expect((await one.adapter.send({ ...to(group), text: "hola" })).status).toBe("accepted");
    expect(rig.bot.sent.map(({ chat, text }) => [chat.id, text])).toEqual([[now.id, "hola"]]);
    // Another process knows it from then on, for both directions.
    const other = rig.process();
    expect((await other.adapter.send({ ...to(group), text: "otra" })).status).toBe("accepted");
    expect(rig.bot.calls.filter(({ method }) => method === "sendMessage")).toHaveLength(3);
    rig.bot.message(now, { from: ana, text: "hola" });
    await until(() => one.host.received.length === 1);
    expect(one.host.received[0]?.chat).toBe(String(group.id));
  });

  it("is redirected to without the store as well", async () => {
    const away = () => Promise.reject(new Error("redis is away"));
    const one = rig.process({}, { store: { ...rig.store, get: away, set: away } });
    const now = rig.bot.migrate(group, { silently: true });
    expect((await one.adapter.send({ ...to(group), text: "hola" })).status).toBe("accepted");
    expect(rig.bot.sent.map(({ chat }) => chat.id)).toEqual([now.id]);
  });

  it("is not acknowledged as moved before that is written down", async () => {
    let away = true;
    const set = (key: string, value: string) => (away ? Promise.reject(new Error("away")) : rig.store.set(key, value));
    const one = rig.process({}, { store: { ...rig.store, set } });
    await one.adapter.start();
    rig.bot.migrate(group);
    await until(() => one.adapter.status().state === "reconnecting");
    expect(rig.bot.pending()).toHaveLength(2);
    away = false;
    await until(() => rig.bot.pending().length === 0);
  });
});
