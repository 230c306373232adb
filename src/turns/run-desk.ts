import { setTimeout as sleep } from "node:timers/promises";
import { DaleError } from "../errors/index.js";
import type { OrderedQueue } from "../queue/index.js";
import type { TurnRecord, TurnRequest, TurnSignals, TurnStore } from "./ports.js";

export interface RunDeskOptions {
  readonly inbound: Pick<OrderedQueue<TurnRequest>, "add">;
  readonly turns: Pick<TurnStore, "read">;
  readonly signals: Pick<TurnSignals, "listen">;
  readonly newTurnId: () => string;
  readonly now: () => number;
}

export interface AskedRun {
  readonly origin: Extract<TurnRequest, { kind: "run" }>["origin"];
  /** Default `agent`. */
  readonly target?: "agent" | "workflow";
  readonly agent: string;
  /** The whole session id, e.g. `api:<agent>:<session_id>`. */
  readonly session: string;
  readonly query: string;
  /** Counts only for `api`. */
  readonly desdeHumano: boolean;
  readonly secrets?: string;
}

/** Runs that somebody waits for, through the same queue and order as a person's messages. */
export interface RunDesk {
  /**
   * Enqueues the run and waits for its record.
   * @throws DaleError `store_unavailable` when it is not certain that it was enqueued, `turn_timeout` when `signal`
   * aborts first (the run goes on all the same)
   */
  run(asked: AskedRun, signal: AbortSignal): Promise<TurnRecord>;
}

/** An announcement may be missed; the record is looked for at least this often. */
const lookEveryMs = 500;

export function createRunDesk(options: RunDeskOptions): RunDesk {
  return {
    async run(asked, signal) {
      const turn = options.newTurnId();
      let announced = () => {};
      // Not waited for: with the store away, adding has to fail at once, and nobody announces anything.
      const listening = options.signals.listen(turn, () => announced()).catch(() => () => {});
      try {
        const data: TurnRequest = { version: 1, kind: "run", receivedAt: options.now(), target: "agent", ...asked };
        await options.inbound.add({ id: turn, key: asked.session, data });
        for (;;) {
          const record = await options.turns.read(turn);
          if (record) return record;
          if (signal.aborted) throw new DaleError("turn_timeout", "The run took longer than its caller waits.");
          await Promise.race([
            new Promise<void>((resolve) => {
              announced = resolve;
            }),
            sleep(lookEveryMs, undefined, { signal }).catch(() => undefined),
          ]);
        }
      } finally {
        void listening.then((stop) => stop());
      }
    },
  };
}
