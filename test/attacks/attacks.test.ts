import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Attack, Stage } from "./attack.js";
import { callArguments } from "./cases/arguments.js";
import { channelTricks } from "./cases/channel-tricks.js";
import { configuration } from "./cases/configuration.js";
import { grants } from "./cases/grants.js";
import { groupTricks } from "./cases/group-tricks.js";
import { identity } from "./cases/identity.js";
import { notice } from "./cases/notice.js";
import { replay } from "./cases/replay.js";
import { replicas } from "./cases/replicas.js";
import { reviewers } from "./cases/reviewers.js";
import { selfConsent } from "./cases/self-consent.js";
import { state } from "./cases/state.js";
import { storedCopy } from "./cases/stored-copy.js";
import { webchatTricks } from "./cases/webchat-tricks.js";
import { words } from "./cases/words.js";
import { type Fortress, startFortress, startReplicas, startTolerantFortress } from "./installation.js";
import { lastLine, outcomeTable, type Result, tableOfPage } from "./outcomes.js";
import { type Outside, startOutside } from "./outside.js";
import { createTrial } from "./trial.js";

const attacks: readonly Attack[] = [
  ...selfConsent,
  ...configuration,
  ...notice,
  ...words,
  ...identity,
  ...replay,
  ...callArguments,
  ...storedCopy,
  ...state,
  ...replicas,
  ...channelTricks,
  ...webchatTricks,
  ...groupTricks,
  ...grants,
  ...reviewers,
];
const results: Result[] = [];

let outside: Outside;
let fortresses: readonly Fortress[] = [];
/** What those come to that run one after the other, beside all the rest. */
const underway = new Map<Attack, Promise<readonly Result[]>>();

beforeAll(async () => {
  outside = await startOutside();
  fortresses = await Promise.all([startFortress(outside), startTolerantFortress(outside), startReplicas()]);
  let before: Promise<unknown> = Promise.resolve();
  for (const attack of attacks.filter(({ special }) => special === "replicas")) {
    const mine = before.then(() => everywhere(attack));
    underway.set(attack, mine);
    before = mine;
  }
}, 120_000);
afterAll(async () => {
  console.log(`${table()}\n\n${lastLine(results)}`);
  await Promise.all(fortresses.map((fortress) => fortress.close()));
  await outside.close();
}, 120_000);

describe.concurrent("an attack in one process", () => {
  for (const attack of attacks.filter(({ special }) => special !== "replicas")) {
    it(`${attack.id}: ${attack.what}`, async () => asItMust(await everywhere(attack)));
  }
});

describe("an attack on several processes", () => {
  for (const attack of attacks.filter(({ special }) => special === "replicas")) {
    it(`${attack.id}: ${attack.what}`, async () => asItMust((await underway.get(attack)) ?? []), 120_000);
  }
});

it("is what docs/security.md tells, with no write that nobody said yes to", async () => {
  expect(await tableOfPage(table())).toBe(table());
  expect(lastLine(results)).toBe(`unauthorised writes: 0/${results.length}`);
});

function table(): string {
  return outcomeTable(
    results,
    fortresses.flatMap(({ stages }) => stages),
  );
}

function asItMust(came: readonly Result[]): void {
  expect(came.length).toBeGreaterThan(0);
  expect(came.map(said)).toEqual(came.map(({ attack, stage }) => `${attack.must} on ${stage.name}`));
}

function said({ outcome, stage, problem }: Result): string {
  return `${problem ?? outcome} on ${stage.name}`;
}

async function everywhere(attack: Attack): Promise<readonly Result[]> {
  const where = fortresses.flatMap((home) =>
    home.stages.filter((stage) => applies(attack, stage)).map((stage) => ({ stage, home })),
  );
  return await Promise.all(where.map(({ stage, home }) => carriedOut(attack, stage, home)));
}

function applies(attack: Attack, stage: Stage): boolean {
  const { special, agent = "cobranzas" } = attack;
  return special === stage.special && stage.agents.has(agent) && (attack.on?.(stage) ?? true);
}

async function carriedOut(attack: Attack, stage: Stage, home: Fortress): Promise<Result> {
  const { place, tick, processes } = home;
  const { backend, puppets } = home.outside;
  const rig = { place, tick, backend, puppets, ...(processes ? { processes } : {}) };
  const trial = createTrial(rig, attack, stage);
  let result: Result;
  try {
    const outcome = await attack.run(trial);
    await trial.evidenceHolds();
    result = { attack, stage, outcome, unauthorised: trial.unauthorised() };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    result = { attack, stage, outcome: "failed", problem, unauthorised: trial.unauthorised() };
  }
  results.push(result);
  return result;
}
