import type { Receipts } from "../attack.js";

export interface PlatformMessage {
  readonly id: string;
  readonly to: string;
  readonly text: string;
}

export interface ClientsOptions {
  /** Everything that the platform has taken, oldest first. */
  readonly sent: () => readonly PlatformMessage[];
  /** The person's client tells the platform of a message. */
  readonly tell: (id: string, level: "delivered" | "read" | "failed", to: string) => void;
}

/** The clients of people on a platform that reports delivery: each tells of what it shows, unless nobody looks. */
export interface Clients {
  open(to: string, blind: boolean): Client;
  close(): Promise<void>;
}

export interface Client extends Receipts {
  /** What the person has before their eyes, or would if they looked; a message that is told of already. */
  read(): readonly PlatformMessage[];
}

const lookEveryMs = 15;

export function createClients({ sent, tell }: ClientsOptions): Clients {
  const clients = new Map<string, { readonly messages: PlatformMessage[]; looks: boolean }>();
  let seen = 0;
  const timer = setInterval(() => {
    const all = sent();
    for (const message of all.slice(seen)) {
      const client = clients.get(message.to);
      if (client?.looks) tell(message.id, "delivered", message.to);
      client?.messages.push(message);
    }
    seen = all.length;
  }, lookEveryMs);
  return {
    open(to, blind) {
      const client = { messages: [] as PlatformMessage[], looks: !blind };
      clients.set(to, client);
      return {
        read: () => client.messages,
        async look() {
          client.looks = true;
          for (const { id } of client.messages) tell(id, "delivered", to);
        },
        async tell(place, level) {
          const message = client.messages[place];
          if (message) tell(message.id, level, to);
        },
      };
    },
    async close() {
      clearInterval(timer);
    },
  };
}
