import { z } from "zod";

/** The account's entry in dale.yaml, without what the application itself needs of it. */
export const webchatOptions = z.strictObject({
  /** The account's name, and the last part of the page's address. */
  name: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, "lower-case letters, digits, - and _, at most 63"),
  /** What the page calls the one who answers. Default: the name. */
  title: z.string().trim().min(1).max(80).optional(),
  /** The language of the page's own words. Default: the browser's, else English. */
  locale: z.enum(["es-AR", "es", "pt-BR", "en"]).optional(),
});

export type WebchatOptions = z.infer<typeof webchatOptions>;
