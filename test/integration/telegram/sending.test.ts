import { createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { OutboundMessage, SendResult } from "../../../src/channels/index.js";
import { type Chat, type Fault, faults } from "../../fakes/telegram-bot-api/index.js";
import { impatientTiming, until } from "../../fixtures/telegram.js";
import { createTelegramRig, type TelegramRig } from "../../fixtures/telegram-rig.js";

describe("sending through Telegram", () => {
  let rig: TelegramRig;
  let chat: Chat;
  beforeEach(async () => {
    rig = await createTelegramRig();
    chat = rig.bot.person().chat;
  });
  afterEach(() => rig.close());

  const message = (text: string, more: Partial<OutboundMessage> = {}): OutboundMessage => ({
    chat: String(chat.id),
    sender: String(chat.id),
    group: false,
    text,
    ...more,
  });
  const send = (text: string, more?: Partial<OutboundMessage>, signal?: AbortSignal): Promise<SendResult> =>
    rig.process().adapter.send(message(text, more), signal);

  it("names the message as Telegram does, with its place and Telegram's time", async () => {
    const result = await send("hola");
    const [sent] = rig.bot.sent;
    expect(result).toEqual({
      status: "accepted",
      ref: String(sent?.message_id),
      order: sent?.message_id,
      sentAt: Number(sent?.date) * 1000,
    });
  });

  it("sends plain text: no formatting, no preview, no keyboard", async () => {
    await send("*no* <b>nada</b> http://example.com/a_b");
    expect(rig.bot.calls.at(-1)?.payload).toEqual({
      chat_id: String(chat.id),
      text: "*no* <b>nada</b> http://example.com/a_b",
      link_preview_options: { is_disabled: true },
    });
  });

  it("still sends an answer whose question was deleted", async () => {
    expect((await send("hola", { replyTo: "999999" })).status).toBe("accepted");
    expect((await send("hola", { replyTo: "not an id" })).status).toBe("accepted");
    expect(rig.bot.sent.map((sent) => sent.reply_to_message)).toEqual([undefined, undefined]);
  });

  it("sends 4096 UTF-16 units of emoji, which Telegram counts as fewer", async () => {
    expect((await send("😀".repeat(2048))).status).toBe("accepted");
  });

  const refusals: readonly (readonly [description: string, code: number, name: string])[] = [
    ["Forbidden: bot was blocked by the user", 403, "blocked"],
    ["Forbidden: user is deactivated", 403, "deactivated"],
    ["Forbidden: bot was kicked from the group chat", 403, "kicked"],
    ["Forbidden: bot is not a member of the supergroup chat", 403, "kicked"],
    ["Forbidden: bot can't initiate conversation with a user", 403, "not_started"],
    ["Forbidden: something new", 403, "forbidden"],
    ["Bad Request: chat not found", 400, "chat_not_found"],
    ["Bad Request: PEER_ID_INVALID", 400, "chat_not_found"],
    ["Bad Request: message is too long", 400, "too_long"],
    ["Bad Request: message text is empty", 400, "empty_text"],
    ["Bad Request: not enough rights to send text messages to the chat", 400, "no_rights"],
    ["Bad Request: TOPIC_CLOSED", 400, "topic_closed"],
    ["Bad Request: something new", 400, "rejected"],
  ];
  for (const [description, code, name] of refusals) {
    it(`says failed, ${name}, when Telegram says "${description}"`, async () => {
      rig.bot.faults.add("sendMessage", { kind: "error", code, description });
      const result = await send("hola");
      expect(result).toMatchObject({ status: "failed", code: name });
      expect(rig.bot.sent).toEqual([]);
    });
  }

  it("is refused by Telegram itself what is too long, empty or for nobody", async () => {
    expect(await send("x".repeat(4097))).toMatchObject({ status: "failed", code: "too_long" });
    expect(await send(" \n ")).toMatchObject({ status: "failed", code: "empty_text" });
    expect(await send("hola", { chat: "123456789" })).toMatchObject({ status: "failed", code: "chat_not_found" });
  });

  it("never writes to a channel by its name", async () => {
    expect(await send("hola", { chat: "@somebodys_channel" })).toMatchObject({
      status: "failed",
      code: "chat_not_found",
    });
    expect(rig.bot.calls).toEqual([]);
  });

  it("says after how long to try again when it was too fast, and did not try by itself", async () => {
    rig.bot.faults.add("sendMessage", faults.tooManyRequests(7));
    expect(await send("hola")).toMatchObject({ status: "retry", code: "rate_limited", afterMs: 7_000 });
    expect(rig.bot.sent).toEqual([]);
  });

  for (const code of [401, 404]) {
    it(`keeps a message for later when Telegram refuses the token (${code}): it can be put right`, async () => {
      rig.bot.faults.add("sendMessage", { kind: "error", code, description: "Unauthorized" });
      expect(await send("hola")).toMatchObject({ status: "retry", code: "unauthorized" });
    });
  }

  const uncertain: readonly (readonly [title: string, fault: Fault, taken: boolean])[] = [
    ["fails with 500", faults.internal, false],
    ["fails with 502 and a proxy's page", faults.badGateway, false],
    ["takes it, and a proxy answers", { kind: "garbage", status: 504, body: "<html>", taken: true }, true],
    ["takes it and answers nonsense", { kind: "garbage", status: 200, body: "{", taken: true }, true],
    [
      "takes it and answers without an id",
      { kind: "garbage", status: 200, body: '{"ok":true,"result":true}', taken: true },
      true,
    ],
    ["takes it and never answers", { kind: "hang", taken: true }, true],
    ["never answers", { kind: "hang", taken: false }, false],
    ["takes it and cuts the line", { kind: "reset", taken: true }, true],
    ["cuts the line", { kind: "reset", taken: false }, false],
  ];
  for (const [title, fault, taken] of uncertain) {
    it(`says unknown, and sends nothing again, when Telegram ${title}`, async () => {
      rig.bot.faults.add("sendMessage", fault);
      const result = await rig.process({ timing: impatientTiming }).adapter.send(message("hola"));
      expect(result.status).toBe("unknown");
      expect(rig.bot.calls.filter(({ method }) => method === "sendMessage").length).toBe(taken ? 1 : 0);
      expect(rig.bot.sent.length).toBe(taken ? 1 : 0);
      expect(JSON.stringify(result)).not.toContain(rig.bot.token);
    });
  }

  it("says unknown on a connection that was open already and is cut", async () => {
    const { adapter } = rig.process();
    await adapter.send(message("uno"));
    rig.bot.faults.add("sendMessage", { kind: "reset", taken: true });
    expect((await adapter.send(message("dos"))).status).toBe("unknown");
  });

  it("sends on while and after it stops to receive", async () => {
    const { adapter } = rig.process();
    await adapter.start();
    await until(() => adapter.status().state === "open");
    const underWay = adapter.send(message("uno"));
    await adapter.stop();
    expect((await underWay).status).toBe("accepted");
    expect((await adapter.send(message("dos"))).status).toBe("accepted");
  });

  it("says unknown when it is told to give up after the message has left", async () => {
    const stop = new AbortController();
    rig.bot.faults.add("sendMessage", { kind: "hang", taken: true });
    const result = send("hola", {}, stop.signal);
    await until(() => rig.bot.sent.length === 1);
    stop.abort();
    expect(await result).toMatchObject({ status: "unknown", code: "aborted" });
  });

  describe("says retry, because nothing can have left, when", () => {
    const servers: Server[] = [];
    afterEach(() => {
      for (const server of servers.splice(0)) server.close();
    });
    const listening = (onConnection: (socket: Socket) => void): Promise<number> =>
      new Promise((resolve) => {
        const server = createServer((socket) => {
          socket.on("error", () => {});
          onConnection(socket);
        });
        servers.push(server);
        server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
      });
    const through = (apiRoot: string) =>
      rig.process({ apiRoot, timing: impatientTiming }).adapter.send(message("hola"));

    it("nobody listens", async () => {
      const port = await listening(() => {});
      await new Promise<void>((resolve) => servers.pop()?.close(() => resolve()));
      expect(await through(`http://127.0.0.1:${port}`)).toMatchObject({ status: "retry", code: "econnrefused" });
    });

    it("the name is not known", async () => {
      expect(await through("http://telegram.invalid")).toMatchObject({ status: "retry" });
    });

    it("the line is cut before TLS is up", async () => {
      const port = await listening((socket) => socket.once("data", () => socket.destroy()));
      expect(await through(`https://127.0.0.1:${port}`)).toMatchObject({ status: "retry" });
    });

    it("TLS never gets up", async () => {
      const sockets: Socket[] = [];
      const port = await listening((socket) => void sockets.push(socket));
      expect(await through(`https://127.0.0.1:${port}`)).toMatchObject({ status: "retry", code: "timeout" });
      for (const socket of sockets) socket.destroy();
    });

    it("the other side does not speak TLS", async () => {
      const port = await listening((socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
      expect(await through(`https://127.0.0.1:${port}`)).toMatchObject({ status: "retry" });
    });
  });

  it("tells the token to nobody, whatever Telegram says", async () => {
    const description = `Bad Request: no method at /bot${rig.bot.token}/sendMessage`;
    rig.bot.faults.add("sendMessage", { kind: "error", code: 400, description });
    const one = rig.process();
    const result = await one.adapter.send(message("hola"));
    expect(JSON.stringify([result, one.host.logs, one.host.statuses])).not.toContain(rig.bot.token);
  });

  it("shows that it is typing, and does not mind when that fails", async () => {
    const { adapter } = rig.process();
    await adapter.typing(String(chat.id));
    expect(rig.bot.calls.at(-1)).toEqual({
      method: "sendChatAction",
      payload: { chat_id: String(chat.id), action: "typing" },
    });
    rig.bot.faults.add("sendChatAction", faults.internal);
    rig.bot.faults.add("sendChatAction", { kind: "reset", taken: false });
    await adapter.typing(String(chat.id));
    await adapter.typing(String(chat.id));
    await rig.platform.unreachable(true);
    await adapter.typing(String(chat.id));
  });
});
