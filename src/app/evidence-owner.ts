import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { JsonValue } from "../canonical/index.js";
import { DaleError } from "../errors/index.js";
import type { Bus } from "../store/index.js";

/**
 * PGlite is one process's. The others ask whichever process owns it, and it answers, over Redis. What nobody hears is not
 * answered: who asks, asks again, and gives up after a while.
 */
export interface OwnerDesk {
  /** @throws DaleError `archive_unavailable` when no process has answered in time, or what the owner threw */
  ask(question: string, about: JsonValue, patienceMs?: number): Promise<unknown>;
}

const topic = "evidence";
const answerTopic = (id: string) => `evidence-answer:${id}`;
const usualPatienceMs = 10_000;
const askAgainMs = 1_000;
/** How long an answer is kept for who asks again, ms. */
const keptMs = 10_000;

const asked = z.strictObject({ id: z.string(), question: z.string(), about: z.json() });
const answered = z.union([
  z.strictObject({ ok: z.literal(true), value: z.json() }),
  z.strictObject({ ok: z.literal(false), code: z.string(), message: z.string() }),
]);

export function createOwnerDesk(bus: Bus): OwnerDesk {
  return {
    async ask(question, about, patienceMs = usualPatienceMs) {
      const id = randomUUID();
      let heard: (value: unknown) => void = () => {};
      const coming = new Promise<unknown>((resolve) => {
        heard = resolve;
      });
      const leave = await bus.subscribe(answerTopic(id), heard);
      const say = () => void bus.publish(topic, { id, question, about });
      const again = setInterval(say, askAgainMs);
      const timer = setTimeout(() => heard(undefined), patienceMs);
      try {
        say();
        const said = answered.safeParse(await coming);
        if (!said.success) throw new DaleError("archive_unavailable", "No process that has the archive has answered.");
        if (!said.data.ok) throw new DaleError("archive_unavailable", said.data.message);
        return said.data.value;
      } finally {
        clearInterval(again);
        clearTimeout(timer);
        leave();
      }
    },
  };
}

/**
 * For a process that may own the archive.
 * @param owns whether it does now
 * @param answer what is asked and about what; a question that is asked again is answered once
 * @returns stops it
 */
export async function answerAsOwner(
  bus: Bus,
  owns: () => boolean,
  answer: (question: string, about: unknown) => Promise<JsonValue>,
): Promise<() => void> {
  const answers = new Map<string, { readonly coming: Promise<JsonValue>; done: boolean }>();

  async function reply(id: string, coming: Promise<JsonValue>): Promise<void> {
    try {
      await bus.publish(answerTopic(id), { ok: true, value: await coming });
    } catch (error) {
      // What it has is another archive: the one that has the right one answers.
      if (error instanceof DaleError && error.code === "archive_foreign") return;
      await bus.publish(answerTopic(id), { ok: false, ...wordsOf(error) });
    }
  }

  return bus.subscribe(topic, (value) => {
    const parsed = asked.safeParse(value);
    if (!parsed.success) return;
    const { id, question, about } = parsed.data;
    const known = answers.get(id);
    if (known) {
      if (known.done) void reply(id, known.coming);
      return;
    }
    if (!owns()) return;
    const coming = answer(question, about);
    const kept = { coming, done: false };
    answers.set(id, kept);
    void reply(id, coming).finally(() => {
      kept.done = true;
      setTimeout(() => answers.delete(id), keptMs).unref();
    });
  });
}

function wordsOf(error: unknown): { code: string; message: string } {
  return error instanceof DaleError
    ? { code: error.code, message: error.message }
    : { code: "archive_unavailable", message: "The archive failed." };
}
