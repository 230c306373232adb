import { eventually } from "../fixtures/gateway.js";
import { resultsSince } from "./puppets.js";
import type { Trial } from "./trial.js";

export interface Holding {
  /** Lets it answer. */
  release(): void;
  /** Waits until it was asked so often. */
  asked(times: number): Promise<true>;
}

/** A model that takes its time: it makes the call when it is told to, however often it was asked. */
export function holding(trial: Trial): Holding {
  let asked = 0;
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  trial.play(async (request) => {
    if (resultsSince(request) > 0) return { text: "Hecho." };
    asked += 1;
    await released;
    return { calls: [trial.call()] };
  });
  return {
    release,
    asked: (times: number) => eventually(() => asked >= times || undefined, 30_000),
  };
}
