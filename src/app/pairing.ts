import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { ChannelAdapter, ChannelKind } from "../channels/index.js";
import { DaleError } from "../errors/index.js";
import type { Bus } from "../store/index.js";

/** Asks whichever process owns an account to pair it. */
export interface PairingDesk {
  /**
   * Without `phone`, a code to scan shows up in the account's status; with it, the code to type on that phone is
   * returned too.
   * @throws DaleError `pairing_failed`
   */
  pair(channel: ChannelKind, name: string, phone: string | undefined): Promise<{ readonly code?: string }>;
}

/** Getting a code may include connecting to WhatsApp first. */
const answerMs = 40_000;

const topic = (channel: string, name: string) => `pair:${channel}:${name}`;
const answerTopic = (id: string) => `paired:${id}`;
const request = z.strictObject({ id: z.string(), phone: z.string().optional() });
const answer = z.union([
  z.strictObject({ ok: z.literal(true), code: z.string().optional() }),
  z.strictObject({ ok: z.literal(false), message: z.string() }),
]);

export function createPairingDesk(bus: Bus): PairingDesk {
  return {
    async pair(channel, name, phone) {
      const id = randomUUID();
      let heard: (value: unknown) => void = () => {};
      const coming = new Promise<unknown>((resolve) => {
        heard = resolve;
      });
      const leave = await bus.subscribe(answerTopic(id), heard);
      const timer = setTimeout(() => heard(undefined), answerMs);
      try {
        await bus.publish(topic(channel, name), { id, ...(phone === undefined ? {} : { phone }) });
        const said = answer.safeParse(await coming);
        if (!said.success) throw new DaleError("pairing_failed", "No process that owns the account has answered.");
        if (!said.data.ok) throw new DaleError("pairing_failed", said.data.message);
        return said.data.code === undefined ? {} : { code: said.data.code };
      } finally {
        clearTimeout(timer);
        leave();
      }
    },
  };
}

/** For a process that receives on the account: pairs it when asked to, if it owns it. @returns stops it */
export async function followPairing(adapter: ChannelAdapter, bus: Bus): Promise<() => void> {
  return bus.subscribe(topic(adapter.channel, adapter.name), (value) => {
    const asked = request.safeParse(value);
    if (asked.success) void pairAndAnswer(adapter, bus, asked.data);
  });
}

async function pairAndAnswer(adapter: ChannelAdapter, bus: Bus, { id, phone }: z.infer<typeof request>): Promise<void> {
  try {
    if (phone === undefined) {
      await adapter.beginPairing?.();
      return await bus.publish(answerTopic(id), { ok: true });
    }
    const code = await adapter.requestPairingCode?.(phone);
    await bus.publish(answerTopic(id), { ok: true, ...(code === undefined ? {} : { code }) });
  } catch (error) {
    // Another process owns the account: that one answers.
    if (error instanceof DaleError && error.code === "lease_lost") return;
    const message = error instanceof DaleError ? error.message : "The account could not be paired.";
    await bus.publish(answerTopic(id), { ok: false, message });
  }
}
