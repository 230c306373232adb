import type { Address, ChannelAdapter } from "../channels/index.js";
import type { Bus } from "../store/index.js";
import type { Presence } from "../turns/index.js";

/** Platforms show "is typing" for about five seconds. */
const repeatMs = 4000;

const topic = (channel: string, account: string) => `presence:${channel}:${account}`;

/**
 * Signs of life from the process that runs a turn. Where an account can only be used by the process that holds its
 * connection, they travel there.
 */
export function createPresence(adapterOf: (address: Address) => ChannelAdapter | undefined, bus: Bus): Presence {
  function typing(address: Address): void {
    const adapter = adapterOf(address);
    if (!adapter?.capabilities.typing) return;
    if (adapter.capabilities.sendsOverConnection) void send(address, { kind: "typing", chat: address.chat });
    else void adapter.typing?.(address.chat).catch(() => undefined);
  }
  const send = (address: Address, word: PresenceWord) =>
    bus.publish(topic(address.channel, address.account), { ...word });

  return {
    taken(address, id) {
      const adapter = adapterOf(address);
      if (!adapter?.capabilities.marksRead) return;
      const message = { chat: address.chat, sender: address.sender, id };
      if (adapter.capabilities.sendsOverConnection) void send(address, { kind: "taken", ...message });
      else void adapter.markRead?.(message).catch(() => undefined);
    },
    typing(address) {
      typing(address);
      const timer = setInterval(() => typing(address), repeatMs);
      return { stop: () => clearInterval(timer) };
    },
  };
}

type PresenceWord =
  | { readonly kind: "typing"; readonly chat: string }
  | { readonly kind: "taken"; readonly chat: string; readonly sender: string; readonly id: string };

/** For the process that holds the account's connection: does what others ask for. @returns stops it */
export function followPresence(adapter: ChannelAdapter, bus: Bus): Promise<() => void> {
  return bus.subscribe(topic(adapter.channel, adapter.name), (value) => {
    if (!isWord(value)) return;
    if (value.kind === "typing") void adapter.typing?.(value.chat).catch(() => undefined);
    else void adapter.markRead?.(value).catch(() => undefined);
  });
}

function isWord(value: unknown): value is PresenceWord {
  return typeof value === "object" && value !== null && "kind" in value && "chat" in value;
}
