import { z } from "zod";
import { rate, secret, slug, text, url } from "./fields.js";

const http = ["https:", "http:"];

const limits = z.union(
  [
    z.literal("off"),
    z.strictObject({ account: rate("30/s").optional(), chat: rate("1/s").optional(), group: rate("20/m").optional() }),
  ],
  { error: "must be off, or rates, for example { account: 30/s, chat: 1/s }" },
);

const account = {
  name: slug("bot"),
  agent: slug("cobranzas"),
  limits: limits.optional(),
  groups: z.enum(["mentioned", "always", "never"]).default("mentioned"),
};

export const telegramShape = z
  .strictObject({
    ...account,
    token: secret("TELEGRAM_BOT_TOKEN").regex(/^[A-Za-z0-9:_-]+$/, {
      error: "must be the token as BotFather gave it: letters, digits, “:”, “_” and “-”",
    }),
    api_root: url("https://api.telegram.org", { protocols: http }).default("https://api.telegram.org"),
    mode: z.enum(["polling", "webhook"]).default("polling"),
    replace_webhook: z.boolean().default(false),
    secret_token: secret("TELEGRAM_SECRET")
      .regex(/^[A-Za-z0-9_-]{1,256}$/, { error: "must be letters, digits, “_” and “-”, 256 at most" })
      .optional(),
    url: url("https://bots.example.com", { protocols: http }).optional(),
  })
  .meta({ example: "{ name: bot, agent: cobranzas, token: … }" });

export const whatsappShape = z
  .strictObject({
    ...account,
    socket_url: url("ws://127.0.0.1:9300/ws/chat", { protocols: ["ws:"], loopback: true }).optional(),
    encryption_keys: z
      .array(
        secret("WA_STATE_KEY").refine((key) => Buffer.from(key, "base64").length === 32, {
          error: "must be 32 random bytes in base64: make one with openssl rand -base64 32",
        }),
      )
      .max(8)
      .default([]),
    pacing: z.enum(["human", "off"]).default("human"),
  })
  .meta({ example: "{ name: shop, agent: cobranzas }" });

export const whatsappCloudShape = z
  .strictObject({
    ...account,
    phone_number_id: text('"1065…"').regex(/^\d{1,32}$/, { error: "must be digits, in quotes" }),
    access_token: secret("WA_TOKEN"),
    app_secret: secret("WA_SECRET"),
    verify_token: secret("WA_VERIFY"),
    graph_url: url("https://graph.facebook.com/v25.0", { protocols: http }).default("https://graph.facebook.com/v25.0"),
    late_template: z.strictObject({ name: text("confirm_again"), language: text("es_AR") }).optional(),
  })
  .meta({
    example: '{ name: main, agent: cobranzas, phone_number_id: "1", access_token: …, app_secret: …, verify_token: … }',
  });

export const webchatShape = z
  .strictObject({
    ...account,
    title: text("Collections desk").max(80).optional(),
    locale: z.enum(["es-AR", "es", "pt-BR", "en"]).optional(),
  })
  .meta({ example: "{ name: web, agent: cobranzas }" });

const accounts = <Shape extends z.ZodType>(shape: Shape) => z.array(shape).max(100).default([]);

export const channelsShape = z
  .strictObject({
    telegram: accounts(telegramShape),
    whatsapp: accounts(whatsappShape),
    whatsapp_cloud: accounts(whatsappCloudShape),
    webchat: accounts(webchatShape),
  })
  .prefault({});

export type ChannelsShape = z.output<typeof channelsShape>;
