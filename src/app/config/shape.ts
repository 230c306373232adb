import { z } from "zod";
import { locales } from "../../gate/index.js";
import { channelsShape } from "./channels-shape.js";
import { duration, secret, text, url, whole } from "./fields.js";

const MINUTE = 60_000;
const DAY = 86_400_000;

const level = z.enum(["accepted", "delivered", "read"]);

/** dale.yaml. Every key has a default but the accounts' own; docs/configuration.md lists them, and a test compares. */
export const configShape = z
  .strictObject({
    redis: z
      .strictObject({ url: url("redis://127.0.0.1:6379", { protocols: ["redis:", "rediss:"], credentials: true }) })
      .optional(),
    data_dir: text(".dale").default(".dale"),
    shards: z
      .literal(1, { error: "must be 1: sessions are not spread over a Redis Cluster yet, one Redis holds them all" })
      .default(1),
    roles: z
      .array(z.enum(["ingress", "worker", "sender", "http"]))
      .min(1)
      .default(["ingress", "worker", "sender", "http"]),
    agents: text("agents/").optional(),
    integrations: text("integrations/").optional(),
    connections: text("connections.yaml").optional(),
    policies: text("policies.yaml").optional(),
    gate: z
      .strictObject({
        locale: z.enum(locales).default("es-AR"),
        ttl: duration(1000, DAY, "10m").default(10 * MINUTE),
        resume: z.enum(["runtime", "model"]).default("runtime"),
        receipt_wait: duration(0, MINUTE, "3s").default(3000),
        words: z.array(text("dale")).max(50).meta({ example: "[si, dale]" }).optional(),
        tolerate: z.array(z.enum(["final_punctuation", "invisible"])).default([]),
        delivered: z
          .strictObject({
            telegram: z
              .literal("accepted", {
                error: "must be accepted: Telegram reports no delivery, so nothing could ever be confirmed",
              })
              .optional(),
            whatsapp: level.optional(),
            whatsapp_cloud: level.optional(),
            webchat: level.optional(),
          })
          .default({}),
      })
      .prefault({}),
    channels: channelsShape,
    http: z
      .strictObject({
        host: text("127.0.0.1")
          .regex(/^[A-Za-z0-9.:_-]+$/, { error: "must be an address or a name, for example 127.0.0.1" })
          .default("127.0.0.1"),
        port: whole(0, 65_535, 8080).default(8080),
        token: secret("DALE_TOKEN").optional(),
      })
      .prefault({}),
    egress: z
      .strictObject({
        allow: z
          .array(
            text("127.0.0.1:9100").regex(
              /^(\[[0-9A-Fa-f:.]+\](:\d{1,5})?|[A-Za-z0-9._-]+(:\d{1,5})?|[0-9A-Fa-f:.]+(\/\d{1,3})?)$/,
              {
                error: "must be a host, host:port or network, for example 127.0.0.1:9100 or 10.1.0.0/16",
              },
            ),
          )
          .max(1000)
          .default([]),
      })
      .prefault({}),
    evidence: z
      .strictObject({
        url: url("postgres://dale@127.0.0.1/dale", {
          protocols: ["postgres:", "postgresql:"],
          credentials: true,
        }).optional(),
        retention: duration(DAY, 36_500 * DAY, "3650d").optional(),
        key: secret("DALE_EVIDENCE_KEY")
          .refine((key) => Buffer.from(key, "base64").length === 32, {
            error: "must be 32 random bytes in base64: make one with openssl rand -base64 32",
          })
          .optional(),
      })
      .prefault({}),
    media: z
      .strictObject({
        max_bytes: whole(0, 104_857_600, 10_485_760).default(10_485_760),
        transcription: z
          .strictObject({
            endpoint: url("https://api.openai.com/v1", { protocols: ["https:", "http:"] }),
            model: text("whisper-1"),
            api_key: secret("OPENAI_API_KEY").optional(),
            language: text("es")
              .regex(/^[a-z]{2,3}$/, { error: "must be a language's code, for example es" })
              .optional(),
          })
          .optional(),
      })
      .prefault({}),
    log: z.strictObject({ level: z.enum(["debug", "info", "warn", "error"]).default("info") }).prefault({}),
  })
  .prefault({});

export type ConfigShape = z.output<typeof configShape>;
