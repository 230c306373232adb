import type { Sibling } from "./receiving.js";

export interface WhatsappCloudOptions {
  /** The account's name in dale.yaml: a slug. */
  readonly name: string;
  /** Meta's id of the number; not the number itself. Digits. */
  readonly phoneNumberId: string;
  /** Of a system user; sent to the Graph API as Bearer. */
  readonly accessToken: string;
  /** Proves that a webhook call is Meta's. */
  readonly appSecret: string;
  /** What was typed into Meta's console for the webhook. */
  readonly verifyToken: string;
  /** With the version, without a slash at the end. */
  readonly graphUrl: string;
  /**
   * When the number answers in a group. `mentioned`: when the person answers one of its messages, or writes its number
   * with an @ before it. Meta tells of no other mention.
   */
  readonly groups: "mentioned" | "always" | "never";
  /**
   * An approved template whose body has one parameter, {{1}}: carries a notice that is due when the 24-hour window is
   * closed. Default: such a notice fails.
   */
  readonly lateTemplate?: { readonly name: string; readonly language: string };
  /**
   * Another account of the SAME app (the same app secret) in this process, by its phone_number_id: Meta sends the
   * webhook calls of all numbers of an app to whichever of its URLs it was given. Default: there are none.
   */
  readonly siblings?: (phoneNumberId: string) => Sibling | undefined;
  readonly timing?: Partial<WhatsappCloudTiming>;
}

/** All in milliseconds. */
export interface WhatsappCloudTiming {
  /** How long a call of the Graph API may take. Default 15,000. */
  readonly request: number;
  /** How long a webhook call may wait for the store before it is refused. Default 1,500. */
  readonly webhook: number;
  /** How often it is asked whether the access token is still good. Default 300,000. */
  readonly probe: number;
  /** The same, while it is not; and how long a message waits for a better token. Default 60,000. */
  readonly trouble: number;
  /** First pause after the limit of one chat was reached; four times as long each time. Default 1,000. */
  readonly pair: number;
}

export const defaultTiming: WhatsappCloudTiming = {
  request: 15_000,
  webhook: 1_500,
  probe: 300_000,
  trouble: 60_000,
  pair: 1_000,
};
