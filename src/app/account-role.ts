import type { ChannelAdapter } from "../channels/index.js";
import { createSender } from "../outbound/index.js";
import type { QueueConsumer } from "../queue/index.js";
import { createSendLimiter, type SendLimits } from "../store/index.js";
import type { Account } from "./accounts.js";
import type { AccountLine, Core } from "./core.js";
import { followPairing } from "./pairing.js";
import { followPresence } from "./presence.js";

const statusEveryMs = 10_000;

/**
 * Receives on an account and sends on it, as far as this process is to. Where only the process that holds the account's
 * connection can send, that is the one that receives, and it sends while the connection is open.
 */
export async function startAccount(core: Core, line: AccountLine, graceMs: number): Promise<void> {
  const { adapter } = line.account;
  const overConnection = adapter.capabilities.sendsOverConnection;
  const sends = core.has(overConnection ? "ingress" : "sender");
  const consumer = sends ? await startSending(core, line) : undefined;
  if (overConnection) await consumer?.pause();
  else if (consumer) core.onStop(() => consumer.close(graceMs));
  if (core.has("ingress")) await startReceiving(core, line.account, overConnection ? consumer : undefined, graceMs);
}

function startSending(core: Core, { account, outbound }: AccountLine): Promise<QueueConsumer> {
  const { store, deliveries, watch, enqueue, logger, now } = core;
  const { adapter, settings } = account;
  const { redis, prefix } = store.shard;
  const keyPrefix = `${prefix}:limit:${adapter.channel}:${adapter.name}`;
  const limiter = createSendLimiter({ redis, keyPrefix, limits: limitsOf(adapter, settings.limits) });
  const sender = createSender({ adapter, deliveries, slots: store.slots, watch, limiter, enqueue, logger, now });
  return outbound.queue.consume((job) => sender.send(job), {
    onDead: (job, reason) => sender.dead(job.data, reason),
  });
}

/** @param connected sends over the connection: it follows the connection's state, and ends before it */
async function startReceiving(
  core: Core,
  account: Account,
  connected: QueueConsumer | undefined,
  graceMs: number,
): Promise<void> {
  const { store, logger } = core;
  const { adapter } = account;
  const { channel, name } = adapter;
  let told = "";
  const tell = (): void => {
    const status = adapter.status();
    const { state, reason } = status;
    const words = `${state} ${reason ?? ""}`;
    if (words !== told)
      logger[state === "open" ? "info" : "warn"]({ channel, account: name, state, reason }, "channel");
    told = words;
    void store.status.put(channel, name, status).catch(() => undefined);
    if (connected) void (state === "open" ? connected.resume() : connected.pause()).catch(() => undefined);
  };
  account.onStatus(tell);
  await adapter.start();
  tell();
  const timer = setInterval(tell, statusEveryMs);
  const unfollow = connected ? await followPresence(adapter, store.bus) : undefined;
  const unpair = adapter.beginPairing ? await followPairing(adapter, store.bus) : undefined;
  core.onStop(async () => {
    clearInterval(timer);
    unfollow?.();
    unpair?.();
    await connected?.close(graceMs);
    await adapter.stop();
    await store.status.remove(channel, name).catch(() => undefined);
  });
}

/** What is configured, else the platform's own. Undefined: none at all. */
function limitsOf(adapter: ChannelAdapter, set: Account["settings"]["limits"]): SendLimits | undefined {
  const own = adapter.capabilities.limits;
  if (set.account === "off" && set.chat === "off") return undefined;
  const unlimited = { count: 1_000_000, perMs: 1000 };
  const pick = (value: typeof set.account, otherwise: typeof own.account) =>
    value === "off" ? unlimited : (value ?? otherwise);
  const chat = pick(set.chat, own.chat);
  return {
    account: pick(set.account, own.account),
    chat,
    group: set.chat === undefined ? (own.group ?? own.chat) : chat,
  };
}
