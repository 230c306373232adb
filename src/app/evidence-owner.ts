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
const usualPatienceMs = 15_000;
const askAgainMs = 1_000;

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
 * @param answer what is asked and about what; a question that is asked again while it is worked on is answered once
 * @returns stops it
 */
export async function answerAsOwner(
  bus: Bus,
  owns: () => boolean,
  answer: (question: string, about: unknown) => Promise<JsonValue>,
): Promise<() => void> {
  const working = new Set<string>();
  return bus.subscribe(topic, (value) => {
    const parsed = asked.safeParse(value);
    if (!parsed.success || !owns() || working.has(parsed.data.id)) return;
    const { id, question, about } = parsed.data;
    working.add(id);
    void answer(question, about)
      .then(
        (found) => bus.publish(answerTopic(id), { ok: true, value: found }),
        (error: unknown) => {
          // What it has is another archive: the one that has the right one answers.
          if (error instanceof DaleError && error.code === "archive_foreign") return;
          return bus.publish(answerTopic(id), { ok: false, ...wordsOf(error) });
        },
      )
      .finally(() => working.delete(id));
  });
}

function wordsOf(error: unknown): { code: string; message: string } {
  return error instanceof DaleError
    ? { code: error.code, message: error.message }
    : { code: "archive_unavailable", message: "The archive failed." };
}
