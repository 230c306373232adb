import type { Redis } from "ioredis";
import type { JsonValue } from "../canonical/index.js";
import { reachingRedis, type Shard } from "./script.js";

/** Words between processes that are kept nowhere: who listens hears them, if the connection holds. */
export interface Signals {
  /** @throws DaleError `store_unavailable` */
  publish(topic: string, value: string): Promise<void>;
  /**
   * Resolves when it is listening; later words come in the order in which they were published.
   * @param onGap called when the connection was lost and is back: words may have been missed
   */
  subscribe(topic: string, onValue: (value: string) => void, onGap?: () => void): Promise<() => void>;
  /** Stops listening to everything. The connections stay their owner's. */
  close(): void;
}

export interface SignalsOptions extends Shard {
  /** A connection for nothing but subscriptions; one serves any number of listeners. */
  readonly subscriber: Redis;
}

interface Listener {
  readonly onValue: (value: string) => void;
  readonly onGap: (() => void) | undefined;
}

interface Topic {
  readonly listeners: Set<Listener>;
  readonly listening: Promise<unknown>;
}

/** The Redis channel of a topic; a script that publishes needs to know it. */
export function signalChannel(prefix: string, topic: string): string {
  return `${prefix}:signal:${topic}`;
}

export function createSignals(options: SignalsOptions): Signals {
  const { redis, subscriber, prefix } = options;
  const topics = new Map<string, Topic>();

  function heard(channel: string, value: string): void {
    for (const listener of [...(topics.get(channel)?.listeners ?? [])]) listener.onValue(value);
  }

  /** Subscribing again is answered after whatever the connection has resubscribed by itself. */
  async function reconnected(): Promise<void> {
    const channels = [...topics.keys()];
    if (channels.length === 0) return;
    await subscriber.subscribe(...channels);
    for (const channel of channels) {
      for (const listener of [...(topics.get(channel)?.listeners ?? [])]) listener.onGap?.();
    }
  }
  /** The first time that it is ready nothing was missed: whoever subscribed until then still waits for it. */
  let connected = subscriber.status === "ready";
  const onReady = () => {
    if (connected) void reconnected().catch(() => undefined);
    connected = true;
  };

  subscriber.on("message", heard);
  subscriber.on("ready", onReady);

  return {
    async publish(topic, value) {
      await reachingRedis("publishing a signal", () => redis.publish(signalChannel(prefix, topic), value));
    },
    async subscribe(name, onValue, onGap) {
      const channel = signalChannel(prefix, name);
      const topic = topics.get(channel) ?? { listeners: new Set(), listening: subscriber.subscribe(channel) };
      topics.set(channel, topic);
      const listener: Listener = { onValue, onGap };
      topic.listeners.add(listener);
      const leave = () => {
        if (!topic.listeners.delete(listener) || topic.listeners.size > 0) return;
        if (topics.get(channel) !== topic) return;
        topics.delete(channel);
        subscriber.unsubscribe(channel).catch(() => undefined);
      };
      try {
        await reachingRedis("listening to signals", () => topic.listening);
      } catch (error) {
        leave();
        throw error;
      }
      return leave;
    },
    close() {
      subscriber.off("message", heard);
      subscriber.off("ready", onReady);
      const channels = [...topics.keys()];
      topics.clear();
      if (channels.length > 0) subscriber.unsubscribe(...channels).catch(() => undefined);
    },
  };
}

/** Best-effort words between processes (somebody types, a turn is done), as JSON. */
export interface Bus {
  /** Never rejects: what could not be said is lost. */
  publish(topic: string, value: JsonValue): Promise<void>;
  /** Resolves when it is listening. @throws DaleError `store_unavailable` */
  subscribe(topic: string, onValue: (value: JsonValue) => void): Promise<() => void>;
}

export function createBus(signals: Signals): Bus {
  return {
    async publish(topic, value) {
      await signals.publish(`bus:${topic}`, JSON.stringify(value)).catch(() => undefined);
    },
    subscribe: (topic, onValue) => signals.subscribe(`bus:${topic}`, (text) => onValue(JSON.parse(text))),
  };
}
