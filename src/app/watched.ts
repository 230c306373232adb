import type { DeliveryStore } from "../outbound/index.js";
import type { TurnStore } from "../turns/index.js";
import type { Metrics } from "./metrics.js";

/** The same store; every turn that is committed is counted, once. */
export function watchedTurns(turns: TurnStore, metrics: Metrics): TurnStore {
  return {
    ...turns,
    async commit(record, remember, fence) {
      const outcome = await turns.commit(record, remember, fence);
      if (outcome === "committed") {
        const { agent } = record;
        metrics.turns.inc({ agent, outcome: record.outcome });
        metrics.decisions.inc({ decision: record.decision });
        metrics.turnSeconds.observe({ agent }, (record.finishedAt - record.startedAt) / 1000);
      }
      return outcome;
    },
  };
}

/** The same store; every state that a part reaches is counted. */
export function watchedDeliveries(deliveries: DeliveryStore, metrics: Metrics): DeliveryStore {
  return {
    ...deliveries,
    async apply(part, event) {
      const change = await deliveries.apply(part, event);
      const { before, after } = change;
      if (before?.state !== after.state) {
        metrics.deliveries.inc({ channel: after.channel, account: after.account, state: after.state });
      }
      return change;
    },
  };
}
