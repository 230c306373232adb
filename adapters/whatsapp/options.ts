import { z } from "zod";
import { DaleError } from "../../src/errors/index.js";

export interface WhatsappOptions {
  /** The account's name in dale.yaml: a slug. */
  readonly name: string;
  /** When the bot answers in a group. `mentioned`: when it is mentioned or replied to. */
  readonly groups: "mentioned" | "always" | "never";
  /** Another server than WhatsApp's, for tests: `ws://` on loopback only. */
  readonly socketUrl?: string;
  /** Keys that the linked device's state is kept under: 32 bytes each, in base64. The first encrypts, all decrypt. */
  readonly encryptionKeys: readonly string[];
  /** `human`: it types for a while before it sends, and reads with a delay. */
  readonly pacing: "human" | "off";
  readonly timing?: Partial<WhatsappTiming>;
}

/** All in milliseconds. */
export interface WhatsappTiming {
  /** How long the lease of a process that died blocks the next one. Default 8,000. */
  readonly lease: number;
  /** How often a process that stands by asks for the lease. Default 1,500. */
  readonly standby: number;
  /** First pause after a failure; doubles up to sixty times as much, with jitter. Default 1,000. */
  readonly backoff: number;
  /** A connection that lasted so long was a good one: the next failure counts as the first. Default 60,000. */
  readonly steady: number;
  /** How long to connect, and each question to WhatsApp, may take. Default 20,000. */
  readonly query: number;
  /** How long WhatsApp may take to say that it has a message. Default 15,000. */
  readonly ack: number;
  /** How long each code to scan is shown. Default 0: as long as WhatsApp's own client does (60 s, then 20 s each). */
  readonly qr: number;
  /** How often WhatsApp is asked whether it is still there. Default 25,000. */
  readonly keepAlive: number;
  /**
   * How long the messages that waited while we were away must have been quiet before they are handed on: an edit or a
   * deletion among them counts. Default 500.
   */
  readonly settle: number;
  /** First pause when the store was away; doubles up to twenty times as much. Default 100. */
  readonly store: number;
}

export const defaultTiming: WhatsappTiming = {
  lease: 8_000,
  standby: 1_500,
  backoff: 1_000,
  steady: 60_000,
  query: 20_000,
  ack: 15_000,
  qr: 0,
  keepAlive: 25_000,
  settle: 500,
  store: 100,
};

const loopbackSocket = /^ws:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?(\/[^\s?#]*)?$/;

/** An account's entry under `channels.whatsapp` in dale.yaml, as far as it is this adapter's, made into its options. */
export const whatsappOptions = z
  .strictObject({
    name: z.string().regex(/^[a-z0-9][a-z0-9_-]*$/, "must be a slug"),
    groups: z.enum(["mentioned", "always", "never"]).default("mentioned"),
    socket_url: z.string().regex(loopbackSocket, "must be a ws:// URL of this machine").optional(),
    encryption_keys: z.array(z.string().refine(isKey, "must be 32 random bytes in base64")).max(8).default([]),
    pacing: z.enum(["human", "off"]).default("human"),
  })
  .transform(
    (entry): WhatsappOptions => ({
      name: entry.name,
      groups: entry.groups,
      encryptionKeys: entry.encryption_keys,
      pacing: entry.pacing,
      ...(entry.socket_url === undefined ? {} : { socketUrl: entry.socket_url }),
    }),
  );

function isKey(text: string): boolean {
  return Buffer.from(text, "base64").length === 32;
}

/**
 * Whoever could name another server would read and write everything: TLS is the only proof that it is WhatsApp's, since
 * Baileys 7.0.0-rc14 takes any certificate inside of it.
 * @throws DaleError `config_invalid`
 */
export function checkServer({ name, socketUrl }: WhatsappOptions): void {
  if (socketUrl === undefined || loopbackSocket.test(socketUrl)) return;
  throw new DaleError("config_invalid", `whatsapp:${name}: the socket's URL must be a ws:// URL of this machine.`);
}

/** Why the account must not be connected from this process; undefined when it may. */
export function unsafeProcess({ socketUrl }: WhatsappOptions, env: NodeJS.ProcessEnv): string | undefined {
  if (socketUrl !== undefined || env.NODE_TLS_REJECT_UNAUTHORIZED !== "0") return undefined;
  return "NODE_TLS_REJECT_UNAUTHORIZED=0 is set: anybody could pose as WhatsApp. Unset it and start Dale again.";
}
