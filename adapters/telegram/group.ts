import { quoted } from "./provenance.js";
import type { Message } from "./update.js";

export interface BotIdentity {
  readonly id: number;
  /** Without the @. Asked of Telegram once. Rejects when Telegram cannot be asked. */
  username(): Promise<string | undefined>;
}

/** Whether a message in a group is meant for the bot: an answer to it, a mention of it, or a command it was given. */
export async function isAddressed(message: Message, bot: BotIdentity): Promise<boolean> {
  if (quoted(message) !== undefined && message.reply_to_message?.from?.id === bot.id) return true;
  const text = message.text ?? message.caption ?? "";
  const names: string[] = [];
  for (const entity of message.entities ?? message.caption_entities ?? []) {
    const part = text.slice(entity.offset, entity.offset + entity.length);
    if (entity.type === "text_mention" && entity.user?.id === bot.id) return true;
    if (entity.type === "mention") names.push(part.slice(1));
    if (entity.type === "bot_command") {
      const [, name] = part.split("@");
      if (name === undefined) return true;
      names.push(name);
    }
  }
  if (names.length === 0) return false;
  const own = (await bot.username())?.toLowerCase();
  return names.some((name) => name.toLowerCase() === own);
}
