import { DaleError } from "../errors/index.js";

/** Propuestas of one turn on their way to the agent's webhook. */
export interface PropuestasPost {
  readonly version: 1;
  readonly webhook: string;
  readonly body: {
    readonly agent: string;
    readonly session: string;
    readonly turn: string;
    readonly propuestas: readonly unknown[];
  };
}

const patienceMs = 10_000;

/** Reads one back from the queue. @throws DaleError `store_version` for one that this build does not know */
export function parsePropuestasPost(data: unknown): PropuestasPost {
  if (isPost(data)) return data;
  throw new DaleError("store_version", "A propuestas job has a version that this build does not know.");
}

function isPost(data: unknown): data is PropuestasPost {
  return typeof data === "object" && data !== null && "version" in data && data.version === 1 && "webhook" in data;
}

/**
 * Posts them. A receiver may see the same turn twice, when an answer was lost: `Idempotency-Key` is the turn.
 * @throws DaleError `channel_failed` for anything but a 2xx answer
 */
export async function postPropuestas(post: PropuestasPost, signal: AbortSignal): Promise<void> {
  const failed = (says: string, cause?: unknown) =>
    new DaleError("channel_failed", `A webhook for propuestas ${says}.`, cause === undefined ? {} : { cause });
  const response = await fetch(post.webhook, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": post.body.turn },
    body: JSON.stringify(post.body),
    redirect: "error",
    signal: AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]),
  }).catch((error: unknown) => {
    throw failed("does not answer", error);
  });
  await response.body?.cancel();
  if (!response.ok) throw failed(`answered ${response.status}`);
}
