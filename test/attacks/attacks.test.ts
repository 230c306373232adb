import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Attack, Stage } from "./attack.js";
import { callArguments } from "./cases/arguments.js";
import { channelTricks } from "./cases/channel-tricks.js";
import { configuration } from "./cases/configuration.js";
import { grants } from "./cases/grants.js";
import { identity } from "./cases/identity.js";
import { notice } from "./cases/notice.js";
import { replay } from "./cases/replay.js";
import { selfConsent } from "./cases/self-consent.js";
import { state } from "./cases/state.js";
import { words } from "./cases/words.js";
import { type Fortress, type Outside, startFortress, startOutside, startTolerantFortress } from "./installation.js";
import { lastLine, outcomeTable, type Result } from "./outcomes.js";
import { createTrial } from "./trial.js";

const attacks: readonly Attack[] = [
  ...selfConsent,
  ...configuration,
  ...notice,
  ...words,
  ...identity,
  ...replay,
  ...callArguments,
  ...state,
  ...channelTricks,
  ...grants,
];
const results: Result[] = [];

let outside: Outside;
let fortress: Fortress;
let tolerant: Fortress;

beforeAll(async () => {
  outside = await startOutside();
  [fortress, tolerant] = await Promise.all([startFortress(outside), startTolerantFortress(outside)]);
});
afterAll(async () => {
  console.log(`${outcomeTable(results)}\n\n${lastLine(results)}`);
  await Promise.all([fortress.close(), tolerant.close()]);
  await outside.close();
});

describe.concurrent("attacks on the gate", () => {
  for (const attack of attacks) {
    it(`${attack.id}: ${attack.what}`, async () => {
      const stages = [fortress, tolerant].flatMap((home) =>
        home.stages.filter((stage) => applies(attack, stage)).map((stage) => ({ stage, home })),
      );
      expect(stages.length).toBeGreaterThan(0);
      const outcomes = await Promise.all(stages.map(({ stage, home }) => carriedOut(attack, stage, home)));
      expect(outcomes).toEqual(stages.map(({ stage }) => `${attack.must} on ${stage.name}`));
    });
  }
});

function applies(attack: Attack, stage: Stage): boolean {
  return attack.special === stage.special && (attack.on?.(stage) ?? true);
}

async function carriedOut(attack: Attack, stage: Stage, home: Fortress): Promise<string> {
  const { backend, puppets } = outside;
  const { place, tick } = home;
  const trial = createTrial({ place, tick, backend, puppets }, attack, stage);
  try {
    const outcome = await attack.run(trial);
    await trial.evidenceHolds();
    results.push({ attack, stage, outcome, unauthorised: trial.unauthorised() });
    return `${outcome} on ${stage.name}`;
  } catch (error) {
    results.push({ attack, stage, outcome: "failed", unauthorised: trial.unauthorised() });
    return `${error instanceof Error ? error.message : String(error)} on ${stage.name}`;
  }
}
