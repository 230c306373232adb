import type { Lease } from "../../src/channels/index.js";
import { DaleError } from "../../src/errors/index.js";
import { backoff, pause } from "./pause.js";
import { holdAccount, type TenureOptions } from "./tenure.js";

export interface OwnershipOptions extends Omit<TenureOptions, "lease"> {
  /** Whether this process holds the account's lease. */
  readonly onOwner: (owner: boolean) => void;
}

/**
 * Holds the account for as long as it can, and stands by while another process does: WhatsApp allows one connection a
 * device, and two that fight for it throw each other out again and again. Never rejects.
 */
export async function ownAccount(options: OwnershipOptions, stop: AbortSignal): Promise<void> {
  const { host, timing, tell, random } = options;
  let failures = 0;
  let yields = 0;
  while (!stop.aborted) {
    const lease = await host.store.acquireLease(timing.lease).catch(() => "unavailable" as const);
    if (stop.aborted) {
      if (lease && lease !== "unavailable") await lease.release().catch(() => undefined);
      return;
    }
    if (lease === "unavailable") {
      tell({ state: "reconnecting", reason: "The store cannot be reached." });
      await pause(backoff(timing.backoff, ++failures, 60, random), stop);
      continue;
    }
    if (!lease) {
      failures = 0;
      tell({ state: "reconnecting", reason: "Another process owns this account; this one stands by." });
      await pause(timing.standby, stop);
      continue;
    }
    const startedAt = host.now();
    const outcome = await hold(lease, options, stop);
    if (stop.aborted) return;
    if (host.now() - startedAt > timing.steady) {
      failures = 0;
      yields = 0;
    }
    switch (outcome.kind) {
      case "ended":
        tell({ state: "reconnecting", reason: "Another process took this account over; this one stands by." });
        await pause(timing.standby * 2, stop);
        break;
      case "yield":
        // Whoever has taken the connection keeps it for a while: there is no fight.
        tell({ state: "reconnecting", reason: outcome.reason });
        await pause(backoff(timing.backoff * 5, ++yields, 60, random), stop);
        break;
      case "failed":
        tell({ state: "reconnecting", reason: outcome.reason });
        await pause(backoff(timing.backoff, ++failures, 60, random), stop);
        break;
    }
  }
}

type Outcome =
  | { readonly kind: "ended" }
  | { readonly kind: "yield"; readonly reason: string }
  | { readonly kind: "failed"; readonly reason: string };

async function hold(lease: Lease, options: OwnershipOptions, stop: AbortSignal): Promise<Outcome> {
  const { host, tell } = options;
  options.onOwner(true);
  try {
    await warnOnce(options);
    return await holdAccount({ ...options, lease }, stop);
  } catch (error) {
    const known = error instanceof DaleError ? error : undefined;
    host.logger.error({ code: known?.code ?? "unexpected" }, "the account cannot be held");
    const reason = known?.message ?? "Something went wrong here; the log says more.";
    if (known && !known.retryable) {
      // Nobody else would fare better: the account stays with this process, which says why, until it is stopped.
      tell({ state: "stopped", reason });
      await pause(2 ** 31 - 1, AbortSignal.any([stop, lease.lost]));
    }
    return { kind: "failed", reason };
  } finally {
    options.onOwner(false);
    await lease.release().catch(() => undefined);
  }
}

/** Said at the very first start of an account, in any process. */
async function warnOnce({ host }: OwnershipOptions): Promise<void> {
  if ((await host.store.get("told:risk")) !== undefined) return;
  host.logger.warn(
    {},
    "this account is linked as WhatsApp Web is, by a client that WhatsApp did not make: WhatsApp may ban its number. Use a number that you can afford to lose, or the official API (whatsapp_cloud)",
  );
  await host.store.set("told:risk", "1");
}
