import { randomUUID } from "node:crypto";
import { createInterface, type Interface } from "node:readline/promises";
import { z } from "zod";

interface ChatOptions {
  readonly url: string;
  readonly token?: string;
  readonly agent?: string;
  readonly session?: string;
}

const agents = z.object({ items: z.array(z.object({ name: z.string() })) });
const reply = z.union([
  z.object({ answer: z.string() }),
  z.object({ error: z.object({ message: z.string() }) }).transform(({ error }) => ({ answer: `(${error.message})` })),
]);

/** A conversation in the terminal, over the API of a running Dale: one line a message, end with Ctrl-D. */
export async function chat(options: ChatOptions): Promise<void> {
  const token = options.token ?? process.env.DALE_TOKEN;
  const headers = {
    "content-type": "application/json",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const call = async (path: string, init: RequestInit = {}): Promise<unknown> => {
    const response = await fetch(new URL(path, options.url), { ...init, headers });
    if (response.status === 401) throw new Error("The token is missing or wrong: give --token or set DALE_TOKEN.");
    return response.json();
  };

  let terminal: Interface | undefined;
  try {
    const known = agents.parse(await call("/v1/agents")).items.map(({ name }) => name);
    const agent = options.agent ?? known[0];
    if (agent === undefined) throw new Error("No agent is loaded there.");
    if (!known.includes(agent)) throw new Error(`No agent named ${agent} is loaded there, only ${known.join(", ")}.`);
    // Opened only now: lines that are piped in would be gone before somebody reads them.
    terminal = createInterface({ input: process.stdin, output: process.stdout });
    const session = options.session ?? `terminal-${randomUUID()}`;
    console.log(`Talking to ${agent}. Ctrl-D ends.\n`);
    terminal.setPrompt("> ");
    terminal.prompt();
    for await (const line of terminal) {
      if (line.trim() !== "") {
        const body = JSON.stringify({ query: line, session_id: session });
        const { answer } = reply.parse(
          await call(`/v1/agents/${encodeURIComponent(agent)}/run`, { method: "POST", body }),
        );
        console.log(`\n${answer}\n`);
      }
      terminal.prompt();
    }
  } catch (error) {
    console.error(`Dale at ${options.url}: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  } finally {
    terminal?.close();
  }
}
