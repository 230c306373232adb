import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

/** One change of a webhook call: `{field, value}`. */
export interface Change {
  readonly field: string;
  readonly value: unknown;
}

/** One call, as it went. */
export interface Push {
  readonly body: Buffer;
  /** 0: no answer. */
  readonly status: number;
}

export interface Pusher {
  add(change: Change): void;
  /** While true, updates pile up, and then go out in one call. */
  hold(held: boolean): void;
  /** Makes one call, whatever it holds. @param signature default: the right one; null: none */
  post(body: string | Buffer, signature?: string | null): Promise<Response>;
  readonly pushes: readonly Push[];
  pending(): number;
  /** Resolves when no call is under way. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Calls an app's webhook: all that waits, in one call, up to a thousand updates. 200 confirms; anything else is tried
 * again, first at once, then after `unitMs`, doubling up to 60 units.
 */
export function createPusher(url: string, secret: string, business: string, unitMs: number): Pusher {
  const pushes: Push[] = [];
  const stopped = new AbortController();
  let waiting: Change[] = [];
  let held = false;
  let busy: Promise<void> | undefined;

  async function post(body: string | Buffer, signature?: string | null): Promise<Response> {
    const bytes = Buffer.from(body);
    const signed = signature === undefined ? signatureOf(bytes, secret) : signature;
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": "facebookexternalua",
        ...(signed === null ? {} : { "x-hub-signature-256": signed }),
      },
      body: new Uint8Array(bytes),
      signal: stopped.signal,
    });
    pushes.push({ body: bytes, status: response.status });
    return response;
  }

  async function drain(): Promise<void> {
    for (let tries = 0; waiting.length > 0 && !held && !stopped.signal.aborted; ) {
      const batch = waiting.slice(0, 1000);
      const { status } = await post(encode(callOf(business, batch))).catch(() => ({ status: 0 }));
      if (status === 200) {
        waiting = waiting.slice(batch.length);
        tries = 0;
        continue;
      }
      const units = tries === 0 ? 0 : Math.min(2 ** (tries - 1), 60);
      tries++;
      await sleep(units * unitMs, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  }

  const wake = () => {
    busy ??= drain().finally(() => {
      busy = undefined;
      if (waiting.length > 0 && !held && !stopped.signal.aborted) wake();
    });
  };
  return {
    add(change) {
      waiting.push(change);
      wake();
    },
    hold(value) {
      held = value;
      wake();
    },
    post,
    pushes,
    pending: () => waiting.length,
    async idle() {
      await busy;
    },
    async stop() {
      stopped.abort();
      await busy;
    },
  };
}

export function callOf(business: string, changes: readonly Change[]): unknown {
  return { object: "whatsapp_business_account", entry: changes.map((change) => ({ id: business, changes: [change] })) };
}

/** As Meta writes JSON: what is no ASCII is escaped, and so is every slash. */
export function encode(value: unknown): Buffer {
  const text = JSON.stringify(value)
    .replaceAll("/", "\\/")
    .replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return Buffer.from(text, "ascii");
}

export function signatureOf(body: Buffer, secret: string): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}
