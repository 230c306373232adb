import { z } from "zod";

const version = z.literal(1);
const at = z.number();

const entry = z.discriminatedUnion("kind", [
  /** What the person typed. It stands here before it is enqueued: its place in the log is its `order`. */
  z.strictObject({
    version,
    kind: z.literal("person"),
    id: z.string(),
    text: z.string(),
    at,
    quotes: z.string().optional(),
  }),
  /** That message is durably enqueued. Without it, a crash in between would look like a message that was sent. */
  z.strictObject({ version, kind: z.literal("queued"), id: z.string(), at }),
  /** What was sent to the person. */
  z.strictObject({
    version,
    kind: z.literal("agent"),
    id: z.string(),
    text: z.string(),
    at,
    replyTo: z.string().optional(),
    /** Where in the text the notice begins, if it ends with one. */
    noticeFrom: z.int().min(0).optional(),
  }),
]);

/** One line of a chat's log. Times in ms since 1970, by our clock. */
export type Entry = z.infer<typeof entry>;

const signal = z.discriminatedUnion("kind", [
  z.strictObject({ version, kind: z.literal("typing") }),
  /** The person's message was taken up: an answer is in the making. */
  z.strictObject({ version, kind: z.literal("taken"), id: z.string() }),
]);

/** Something that only those see who look at the chat now. */
export type Signal = z.infer<typeof signal>;

/** @returns undefined for what this build cannot read: another version, or no entry at all */
export function parseEntry(value: string): Entry | undefined {
  return entry.safeParse(jsonOf(value)).data;
}

export function parseSignal(value: string): Signal | undefined {
  return signal.safeParse(jsonOf(value)).data;
}

function jsonOf(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}
