import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Installation } from "../../fixtures/gateway.js";
import type { Person, Stage } from "../attack.js";

/** One browser: its cookie, and what its page has rendered. */
export interface Browser extends Person {
  readonly chat: string;
  readonly messages: readonly { readonly id: string; readonly text: string }[];
  /** Any request that its page, or another one in the same browser, makes. */
  request(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
}

/** @throws when the attack is run elsewhere */
export function onWebchat(person: Person): Browser {
  if (!("messages" in person)) throw new Error("this attack is one on webchat");
  return person as Browser;
}

export interface WebchatStage extends Stage {
  meet(options?: Parameters<Stage["meet"]>[0]): Promise<Browser>;
  close(): Promise<void>;
}

/** People at the chat page, whose browsers tell what they have rendered. @param accounts agent → account */
export function webchatStage(place: Installation, accounts: Readonly<Record<string, string>>): WebchatStage {
  const open: (() => void)[] = [];
  return {
    name: "webchat",
    slug: "webchat",
    longest: 16_000,
    agents: new Set(Object.keys(accounts)),
    ways: new Set(["typed"]),
    receipts: true,
    async close() {
      for (const close of open) close();
    },
    async meet({ agent = "cobranzas", blind = false } = {}) {
      const account = accounts[agent];
      const base = `${place.url}/chat/${account}`;
      let cookie = "";
      const request = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
        fetch(`${base}${path}`, {
          method: "POST",
          headers: { "content-type": "application/json", cookie, ...headers },
          body: typeof body === "string" ? body : JSON.stringify(body),
        });
      const entered = await patiently(() => request("/session", {}));
      cookie = entered.headers.get("set-cookie")?.split(";")[0] ?? "";
      const { chat } = (await entered.json()) as { chat: string };

      const messages: { id: string; text: string }[] = [];
      const came = new Set<string>();
      let looks = !blind;
      const render = async (ids: readonly string[]) => {
        if (looks && ids.length > 0) await patiently(() => request("/receipts", { ids, level: "delivered" }));
      };
      const gone = new AbortController();
      open.push(() => gone.abort());
      const stream = await patiently(() => fetch(`${base}/events`, { headers: { cookie }, signal: gone.signal }));
      void follow(stream, (entry) => {
        if (entry.kind !== "agent" || came.has(entry.id)) return;
        came.add(entry.id);
        // A person reads what is rendered, and the page tells at once what that is.
        void render([entry.id]).then(() => messages.push({ id: entry.id, text: entry.text }));
      });

      return {
        session: `webchat:${account}:${chat}:${chat}`,
        agent,
        chat,
        messages,
        heard: () => messages.map(({ text }) => text),
        request,
        async say(text, { quotes } = {}) {
          const quoted = quotes === undefined ? undefined : messages[quotes]?.id;
          const typed = { id: randomUUID(), text, ...(quoted === undefined ? {} : { quotes: quoted }) };
          const response = await patiently(() => request("/messages", typed));
          if (response.status !== 202) throw new Error(`webchat took no message: ${response.status}`);
        },
        receipts: {
          async look() {
            looks = true;
            await render(messages.map(({ id }) => id));
          },
          async tell(place, level) {
            if (level === "failed") throw new Error("a page does not fail to render");
            await request("/receipts", { ids: [messages[place]?.id], level });
          },
        },
      };
    },
  };
}

/** Asks again where it is told to, as the page does. */
async function patiently(ask: () => Promise<Response>): Promise<Response> {
  for (let tries = 0; ; tries++) {
    const response = await ask();
    if (response.status !== 503 || tries === 10) return response;
    await response.body?.cancel();
    await sleep(300);
  }
}

interface Entry {
  readonly kind: string;
  readonly id: string;
  readonly text: string;
}

/** Reads server-sent events until the stream ends or is given up. */
async function follow(response: Response, onEntry: (entry: Entry) => void): Promise<void> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = /^event: (.*)$/m.exec(block)?.[1];
        const data = /^data: (.*)$/m.exec(block)?.[1] ?? "{}";
        if (event === "entry") onEntry(JSON.parse(data) as Entry);
        if (event === "history") for (const entry of (JSON.parse(data) as { entries: Entry[] }).entries) onEntry(entry);
      }
    }
  } catch {
    // Given up by `close`.
  }
}
