import type { GateLocale } from "../../agents/spec/index.js";
import type { ChannelKind, RateLimit } from "../../channels/index.js";
import type { NoticeLevel, Tolerance } from "../../gate/index.js";

export type Role = "ingress" | "worker" | "sender" | "http";

/** dale.yaml, checked. Paths are absolute, durations in milliseconds, secrets in the clear: never log it. */
export interface DaleConfig {
  readonly file: string;
  readonly dataDir: string;
  /** Where absent, Dale runs a redis-server of its own with its files under `dataDir`. */
  readonly redis?: { readonly url: string };
  /** Number of hash tags that sessions are spread over. */
  readonly shards: number;
  readonly roles: readonly Role[];
  /** Absent where neither named nor there. What the file names is there (checked). */
  readonly agents?: string;
  readonly integrations?: string;
  readonly connections?: string;
  readonly policies?: string;
  readonly gate: GateConfig;
  readonly channels: readonly ChannelAccount[];
  readonly http: HttpConfig;
  /** Hosts that `api` and `mcp` tools may reach although they are not public. */
  readonly egress: { readonly allow: readonly string[] };
  readonly evidence: EvidenceConfig;
  readonly media: MediaConfig;
  readonly log: { readonly level: "debug" | "info" | "warn" | "error" };
}

export interface GateConfig {
  readonly locale: GateLocale;
  readonly ttlMs: number;
  readonly resume: "runtime" | "model";
  /** How long a yes that came before the notice's receipt waits for it. */
  readonly receiptWaitMs: number;
  /** Where absent, the words of the locale. Normalised, and sensible (checked). */
  readonly words?: readonly string[];
  readonly tolerate: readonly Tolerance[];
  /** Where absent, what the adapter's capabilities say. Never below `accepted`. */
  readonly delivered: Readonly<Partial<Record<ChannelKind, NoticeLevel>>>;
}

/** `off`: no limit at all, for load tests. Absent: the platform's own. */
export interface AccountLimits {
  readonly account?: RateLimit | "off";
  readonly chat?: RateLimit | "off";
  readonly group?: RateLimit | "off";
}

interface Account {
  /** Slug; unique within its channel. */
  readonly name: string;
  readonly agent: string;
  readonly limits: AccountLimits;
  /** When the bot answers in a group: when it is mentioned or replied to, always, or never. */
  readonly groups: "mentioned" | "always" | "never";
}

export interface TelegramAccount extends Account {
  readonly channel: "telegram";
  readonly token: string;
  /** Without a slash at the end. */
  readonly apiRoot: string;
  readonly receive: /** `replaceWebhook`: a webhook that is set for the bot is removed; otherwise it is left, and told. */
    | { readonly mode: "polling"; readonly replaceWebhook: boolean }
    /** With `url`, setWebhook is called at start with `<url>/webhooks/telegram/<name>`. */
    | { readonly mode: "webhook"; readonly secretToken: string; readonly url?: string };
}

export interface WhatsappAccount extends Account {
  readonly channel: "whatsapp";
  /** Another server than WhatsApp's: `ws://` on loopback only (checked). */
  readonly socketUrl?: string;
  /** Keys (32 bytes each) that the linked device's state is encrypted with: the first encrypts, all decrypt. */
  readonly encryptionKeys: readonly string[];
  /** Human-like pauses before answers. */
  readonly pacing: "human" | "off";
}

export interface WhatsappCloudAccount extends Account {
  readonly channel: "whatsapp_cloud";
  readonly phoneNumberId: string;
  readonly accessToken: string;
  readonly appSecret: string;
  readonly verifyToken: string;
  /** With the version, without a slash at the end. */
  readonly graphUrl: string;
  /** An approved template for a notice that is due when the 24-hour window is closed. */
  readonly lateTemplate?: { readonly name: string; readonly language: string };
}

export interface WebchatAccount extends Account {
  readonly channel: "webchat";
  /** What the page calls the one who answers. */
  readonly title?: string;
  /** The language of the page's own words. */
  readonly locale?: GateLocale;
}

export type ChannelAccount = TelegramAccount | WhatsappAccount | WhatsappCloudAccount | WebchatAccount;

export interface HttpConfig {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Set wherever the host is not loopback (checked). */
  readonly token?: string;
}

export interface EvidenceConfig {
  /** PostgreSQL; PGlite under `dataDir` where absent. */
  readonly url?: string;
  /** Kept for ever where absent. */
  readonly retentionMs?: number;
  /** 32 bytes in base64; a file in `dataDir` where absent. */
  readonly key?: string;
}

export interface MediaConfig {
  /** Bytes of one attachment that are fetched at most. */
  readonly maxBytes: number;
  /** Voice notes become texts here; a transcript is never a consent. */
  readonly transcription?: {
    readonly endpoint: string;
    readonly model: string;
    readonly apiKey?: string;
    readonly language?: string;
  };
}
