import { z } from "zod";

export interface TelegramOptions {
  /** The account's name in dale.yaml: a slug. */
  readonly name: string;
  /** As BotFather gave it: `<bot id>:<secret>`. */
  readonly token: string;
  /** Without a slash at the end. */
  readonly apiRoot: string;
  /** When the bot answers in a group. `mentioned`: when it is mentioned, replied to or given a command. */
  readonly groups: "mentioned" | "always" | "never";
  readonly receive:
    | {
        readonly mode: "polling";
        /** Removes a webhook that is set for the bot, which polling cannot go on beside. Default: it is left, and told. */
        readonly replaceWebhook?: boolean;
      }
    | {
        readonly mode: "webhook";
        readonly secretToken: string;
        /** Where Dale is reached from outside. With it, the webhook is set at start. */
        readonly url?: string;
      };
  readonly timing?: Partial<TelegramTiming>;
}

/** All in milliseconds. */
export interface TelegramTiming {
  /** How long Telegram holds a poll open when there is nothing new; whole seconds. Default 25,000. */
  readonly poll: number;
  /** How long any other call may take. Default 15,000. */
  readonly request: number;
  /** How long a webhook's request may wait for the store before it is refused. Default 1,500. */
  readonly webhook: number;
  /** How long the lease of a process that died blocks the next one. Default 10,000. */
  readonly lease: number;
  /** How often a process that stands by asks for the lease. Default 2,000. */
  readonly standby: number;
  /** First pause after a failure; doubles up to thirty times as much. Default 1,000. */
  readonly backoff: number;
}

export const defaultTiming: TelegramTiming = {
  poll: 25_000,
  request: 15_000,
  webhook: 1_500,
  lease: 10_000,
  standby: 2_000,
  backoff: 1_000,
};

const httpUrl = z
  .string()
  .regex(/^https?:\/\/\S+$/, "must be a http(s) URL")
  .transform((url) => url.replace(/\/+$/, ""));

/**
 * An account's entry under `channels.telegram` in dale.yaml, as far as it is this adapter's, made into its options.
 * https://core.telegram.org/bots/api#setwebhook says what a secret token may look like.
 */
export const telegramOptions = z
  .strictObject({
    name: z.string().regex(/^[a-z0-9][a-z0-9_-]*$/, "must be a slug"),
    token: z.string().regex(/^\d+:[\w-]+$/, "must look like 123456:ABC-DEF, as BotFather gives it"),
    api_root: httpUrl.default("https://api.telegram.org"),
    mode: z.enum(["polling", "webhook"]).default("polling"),
    replace_webhook: z.boolean().optional(),
    secret_token: z
      .string()
      .regex(/^[\w-]{1,256}$/, "must be 1 to 256 letters, digits, _ or -")
      .optional(),
    url: httpUrl.optional(),
    groups: z.enum(["mentioned", "always", "never"]).default("mentioned"),
  })
  .transform((entry, context): TelegramOptions => {
    const { name, token, api_root: apiRoot, groups } = entry;
    const refuse = (path: string, message: string) => {
      context.issues.push({ code: "custom", input: undefined, path: [path], message });
      return z.NEVER;
    };
    if (entry.mode === "polling") {
      if (entry.url !== undefined) return refuse("url", "is for mode: webhook");
      if (entry.secret_token !== undefined) return refuse("secret_token", "is for mode: webhook");
      const receive = { mode: "polling" as const, ...optional("replaceWebhook", entry.replace_webhook) };
      return { name, token, apiRoot, groups, receive };
    }
    // Without a secret, anybody who guesses the path could write as anybody.
    if (entry.secret_token === undefined) return refuse("secret_token", "is needed for mode: webhook");
    if (entry.replace_webhook !== undefined) return refuse("replace_webhook", "is for mode: polling");
    const receive = { mode: "webhook" as const, secretToken: entry.secret_token, ...optional("url", entry.url) };
    return { name, token, apiRoot, groups, receive };
  });

function optional<Key extends string, Value>(key: Key, value: Value | undefined): { readonly [key in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [key in Key]?: Value });
}
