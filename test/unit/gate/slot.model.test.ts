import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { NoticeLevel } from "../../../src/gate/index.js";
import { World } from "./slot-world.js";

/** The model is empty: what has to hold is kept in the world's own books, and checked after every step. */
type Model = Record<string, never>;

class Step implements fc.Command<Model, World> {
  constructor(
    private readonly name: string,
    private readonly act: (world: World) => void,
  ) {}

  check(): boolean {
    return true;
  }

  run(_model: Model, world: World): void {
    this.act(world);
    world.tick(1);
    world.check();
  }

  toString(): string {
    return this.name;
  }
}

const pick = fc.nat(3);
const call = fc.nat(1);

function step<Values extends unknown[]>(
  name: string,
  act: (world: World, ...values: Values) => void,
  ...values: { [Index in keyof Values]: fc.Arbitrary<Values[Index]> }
): fc.Arbitrary<Step> {
  return fc
    .tuple<Values>(...values)
    .map((chosen) => new Step(`${name}(${chosen.join(", ")})`, (world) => act(world, ...chosen)));
}

const anyLevel = fc.constantFrom<NoticeLevel>("accepted", "delivered", "read");

const steps = [
  step(
    "says",
    (world, kind, quoting) => world.says(kind, quoting),
    fc.constantFrom("yes", "yes", "no", "caption"),
    fc.constantFrom("nothing", "nothing", "notice", "other"),
  ),
  step(
    "receipt",
    (world, which, level) => world.receipt(which, level),
    pick,
    fc.oneof(anyLevel, fc.constant("failed" as const)),
  ),
  step("sends", (world, stale) => world.sends(stale), fc.boolean()),
  step("takes", (world, which, unknown) => world.takes(which, unknown), pick, fc.boolean()),
  step("buries", (world) => world.buries()),
  step("takesJob", (world) => world.takesJob()),
  step("takesScheduledJob", (world) => world.takesScheduledJob()),
  step("begins", (world, which) => world.begins(which), pick),
  step("proposes", (world, which, what) => world.proposes(which, what), pick, call),
  step("consumes", (world, which, what) => world.consumes(which, what), pick, call),
  step(
    "settles",
    (world, which, status) => world.settles(which, status),
    pick,
    fc.constantFrom("executed", "failed", "unknown", "parked"),
  ),
  step("ends", (world, which, failed) => world.ends(which, failed), pick, fc.boolean()),
  step("crashes", (world, which) => world.crashes(which), pick),
  step("expires", (world) => world.expires()),
  step("tick", (world, ms) => world.tick(ms), fc.constantFrom(10, 400)),
] as const;

/** What usually happens, so that the rare things happen in the middle of something. */
const usual: readonly ((world: World, level: NoticeLevel, last: number) => void)[] = [
  (world) => world.says("no", "nothing"),
  (world) => world.takesJob(),
  (world, _level, last) => world.begins(last),
  (world, _level, last) => world.proposes(last, 0),
  (world, _level, last) => world.ends(last, false),
  (world) => world.sends(false),
  (world) => world.takes(world.sendings.length - 1, false),
  (world, level) => world.receipt(world.sendings.length - 1, level),
  (world) => world.says("yes", "nothing"),
  (world) => world.takesJob(),
  (world, _level, last) => world.begins(last),
  (world, _level, last) => world.consumes(last, 0),
  (world, _level, last) => world.settles(last, "executed"),
  (world, _level, last) => world.ends(last, false),
];

function usually(level: NoticeLevel, index: number): Step {
  return new Step(`usual ${index}`, (world) => usual[index]?.(world, level, Math.max(0, world.runs.length - 1)));
}

describe("the slot, with everybody acting on it at once", () => {
  it.each(["accepted", "delivered", "read"] as const)(
    "keeps its rules at level %s, in any order of events",
    (level) => {
      fc.assert(
        fc.property(fc.commands([...steps], { size: "large", maxCommands: 60 }), (commands) => {
          fc.modelRun(() => ({ model: {}, real: new World(level) }), commands);
        }),
        { numRuns: 300 },
      );
    },
  );

  it.each(["accepted", "delivered", "read"] as const)(
    "keeps its rules at level %s, when something comes between",
    (level) => {
      let executed = 0;
      const interleaved = fc
        .array(fc.tuple(fc.nat(usual.length * 2), fc.oneof(...steps)), { maxLength: 8 })
        .map((disturbances) => {
          const plan = [...usual.keys(), ...usual.keys()].map((index) => usually(level, index));
          for (const [at, disturbance] of disturbances) plan.splice(at, 0, disturbance);
          return plan;
        });
      fc.assert(
        fc.property(interleaved, (plan) => {
          const world = new World(level);
          for (const one of plan) one.run({}, world);
          executed += world.executions.length;
        }),
        { numRuns: 1500 },
      );
      expect(executed).toBeGreaterThan(500);
    },
  );
});
