import type { Receipts } from "../attack.js";

export interface PlatformMessage {
  readonly id: string;
  readonly to: string;
  readonly text: string;
}

export interface ClientsOptions {
  /** Everything that the platform has taken, oldest first. */
  readonly sent: () => readonly PlatformMessage[];
  /** A client tells the platform of a message. @param by whose client it is, in a group */
  readonly tell: (id: string, level: "delivered" | "read" | "failed", to: string, by?: string) => void;
}

/** The clients of people on a platform that reports delivery: each tells of what it shows, unless nobody looks. */
export interface Clients {
  open(to: string, blind: boolean, by?: string): Client;
  close(): Promise<void>;
}

export interface Client extends Receipts {
  /** What the person has before their eyes, or would if they looked; a message that is told of already. */
  read(): readonly PlatformMessage[];
}

const lookEveryMs = 15;

export function createClients({ sent, tell }: ClientsOptions): Clients {
  const clients: { readonly to: string; readonly messages: PlatformMessage[]; looks: boolean; by?: string }[] = [];
  let seen = 0;
  const timer = setInterval(() => {
    const all = sent();
    for (const message of all.slice(seen)) {
      for (const client of clients.filter(({ to }) => to === message.to)) {
        if (client.looks) tell(message.id, "delivered", message.to, client.by);
        client.messages.push(message);
      }
    }
    seen = all.length;
  }, lookEveryMs);
  return {
    open(to, blind, by) {
      const before = clients.find((client) => client.to === to)?.messages ?? [];
      const client = { to, messages: [...before], looks: !blind, ...(by === undefined ? {} : { by }) };
      clients.push(client);
      return {
        read: () => client.messages,
        async look() {
          client.looks = true;
          for (const { id } of client.messages) tell(id, "delivered", to, by);
        },
        async tell(place, level) {
          const message = client.messages[place];
          if (message) tell(message.id, level, to, by);
        },
      };
    },
    async close() {
      clearInterval(timer);
    },
  };
}
