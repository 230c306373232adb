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
