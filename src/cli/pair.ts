import { setTimeout as sleep } from "node:timers/promises";
import { toString as drawQr } from "qrcode";
import { z } from "zod";
import { boot } from "../app/index.js";

interface PairOptions {
  readonly config: string;
  readonly phone?: string;
  readonly url?: string;
  readonly token?: string;
}

const listing = z.object({
  items: z.array(
    z.object({
      channel: z.string(),
      name: z.string(),
      state: z.string(),
      reason: z.string().optional(),
      qr: z.string().optional(),
      pairing_code: z.string().optional(),
    }),
  ),
});
const failure = z.object({ error: z.object({ message: z.string() }) });
const lookEveryMs = 1_000;

/**
 * Links an account of a running Dale with its phone: shows a QR code as long as one is to be scanned, or a code to type.
 * Exit code 1 when it did not come to that.
 */
export async function pair(account: string, options: PairOptions): Promise<void> {
  const [channel = "", name = ""] = account.split(":");
  const { url, token } = await whereIs(options);
  const call = async (path: string, init: RequestInit = {}): Promise<unknown> => {
    const headers = {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const response = await fetch(new URL(path, url), { ...init, headers }).catch(() => {
      throw new Error("it does not answer. Start it first, with dale start.");
    });
    const answer: unknown = await response.json();
    if (response.ok) return answer;
    const said = failure.safeParse(answer);
    throw new Error(said.success ? said.data.error.message : `it answers with ${response.status}.`);
  };
  const look = async () => {
    const { items } = listing.parse(await call("/v1/channels"));
    const found = items.find((each) => each.channel === channel && each.name === name);
    if (!found) throw new Error(`it has no account ${account}.`);
    return found;
  };

  try {
    if ((await look()).state === "open") {
      console.log(`${account} is linked already. To link it anew, log it out on the phone first.`);
      return;
    }
    const asked = options.phone === undefined ? {} : { phone: options.phone };
    await call(`/v1/channels/${channel}/${name}/pair`, { method: "POST", body: JSON.stringify(asked) });
    await show(account, look);
  } catch (error) {
    console.error(`Dale at ${url}: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}

type Look = () => Promise<z.infer<typeof listing>["items"][number]>;

async function show(account: string, look: Look): Promise<void> {
  let shown: string | undefined;
  let began = false;
  for (;;) {
    const { state, reason, qr, pairing_code: code } = await look();
    if (state === "open") {
      console.log(`${account} is linked.`);
      return;
    }
    if (qr !== undefined || code !== undefined) began = true;
    else if (began && (state === "unpaired" || state === "stopped")) throw new Error(reason ?? "it was not linked.");
    const current = code ?? qr;
    if (current !== undefined && current !== shown) {
      shown = current;
      console.log(code === undefined ? await drawing(qr ?? "") : typing(code));
    }
    await sleep(lookEveryMs);
  }
}

async function drawing(qr: string): Promise<string> {
  const drawn = await drawQr(qr, { type: "terminal", small: true });
  return `${drawn}\nOn the phone: WhatsApp → Linked devices → Link a device, and scan this.\n`;
}

function typing(code: string): string {
  const shown = `${code.slice(0, 4)}-${code.slice(4)}`;
  return `On the phone: WhatsApp → Linked devices → Link a device → Link with phone number instead. Type: ${shown}\n`;
}

/** What was given, else what the configuration of this folder says. */
async function whereIs(options: PairOptions): Promise<{ readonly url: string; readonly token?: string | undefined }> {
  const token = options.token ?? process.env.DALE_TOKEN;
  if (options.url !== undefined) return { url: options.url, token };
  const booted = await boot(options.config, process.env);
  if (!booted.ok) return { url: "http://127.0.0.1:8080", token };
  const { host, port, token: configured } = booted.config.http;
  const reached = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return { url: `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`, token: token ?? configured };
}
