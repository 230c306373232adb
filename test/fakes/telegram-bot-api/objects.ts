/** Objects of the Bot API, as far as the fake makes them. https://core.telegram.org/bots/api#available-types */
export interface User {
  readonly id: number;
  readonly is_bot: boolean;
  readonly first_name: string;
  readonly last_name?: string;
  readonly username?: string;
}

export interface Chat {
  readonly id: number;
  readonly type: "private" | "group" | "supergroup" | "channel";
  readonly title?: string;
  readonly first_name?: string;
}

export interface Message {
  readonly message_id: number;
  readonly date: number;
  readonly chat: Chat;
  readonly from?: User;
  readonly text?: string;
  readonly [field: string]: unknown;
}

/** Without its `update_id`; exactly one more field, e.g. `message`. */
export type UpdateBody = Readonly<Record<string, unknown>>;

export type Update = UpdateBody & { readonly update_id: number };

/** Whose queue an update stands in when it is pushed: messages are serial per chat, button presses per user. */
export function lineOf(update: Update): string {
  const press = update.callback_query as { from?: User } | undefined;
  if (press) return `user:${press.from?.id}`;
  for (const [field, value] of Object.entries(update)) {
    if (field === "update_id") continue;
    const chat = (value as { chat?: Chat } | undefined)?.chat;
    if (chat) return `chat:${chat.id}`;
  }
  return "other";
}

export function kindOf(update: UpdateBody): string {
  return Object.keys(update).find((field) => field !== "update_id") ?? "none";
}

/** Not sent unless asked for by name: https://core.telegram.org/bots/api#getupdates */
export const onRequestOnly = new Set(["chat_member", "message_reaction", "message_reaction_count"]);
