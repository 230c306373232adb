import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createRunOwnership, type RunOwnership } from "../../../src/store/run-ownership.js";

const lockMs = 1000;
let now: number;
let ownership: RunOwnership;
beforeEach(() => {
  vi.useFakeTimers();
  now = 0;
  ownership = createRunOwnership(lockMs, () => now);
});
afterEach(() => {
  ownership.close();
  vi.useRealTimers();
});

function pass(ms: number): void {
  for (let passed = 0; passed < ms; passed += 50) {
    now += 50;
    vi.advanceTimersByTime(50);
  }
}

function hold(id: string) {
  const holding = ownership.hold(id);
  if (!holding) throw new Error(`${id} is not held`);
  return holding;
}

describe("a run's hold on its job", () => {
  it("lasts as long as it is renewed in time", () => {
    const run = hold("a");
    for (let times = 0; times < 10; times++) {
      pass(900);
      ownership.renewed(["a", "not mine"]);
    }
    expect([run.state, run.signal.aborted]).toEqual(["held", false]);
  });

  it("is lost when it was not renewed for as long as a lock lasts", () => {
    const [late, renewed] = [hold("a"), hold("b")];
    pass(800);
    ownership.renewed(["b"]);
    pass(600);
    expect([late.state, late.signal.aborted]).toEqual(["lost", true]);
    expect([renewed.state, renewed.signal.aborted]).toEqual(["held", false]);
  });

  it("is lost when this process was frozen: the clock has jumped", () => {
    const run = hold("a");
    now += 60_000;
    vi.advanceTimersByTime(lockMs / 4);
    expect(run.state).toBe("lost");
  });

  it("is lost when Redis says so, and stays so", () => {
    const run = hold("a");
    ownership.lost(["a", "not mine"]);
    expect([run.state, run.signal.aborted]).toEqual(["lost", true]);
    ownership.renewed(["a"]);
    ownership.stopAll();
    expect(run.state).toBe("lost");
  });

  it("ends for all runs that still go on when the process stops", () => {
    const [on, over] = [hold("a"), hold("b")];
    over.release();
    ownership.stopAll();
    expect([on.state, on.signal.aborted]).toEqual(["stopped", true]);
    expect([over.state, over.signal.aborted]).toEqual(["held", false]);
  });
});

describe("a job that comes back to a process that still runs it", () => {
  it("is not held twice: the earlier run is aborted and has to end first", () => {
    const earlier = hold("a");
    expect(ownership.hold("a")).toBeUndefined();
    expect([earlier.state, earlier.signal.aborted]).toEqual(["lost", true]);
    earlier.release();
    expect(hold("a").state).toBe("held");
  });

  it("is held again although the earlier run never ends, after half a minute", () => {
    const earlier = hold("a");
    expect(ownership.hold("a")).toBeUndefined();
    pass(31_000);
    const later = hold("a");
    earlier.release();
    expect(ownership.hold("a")).toBeUndefined();
    later.release();
    expect(hold("a").state).toBe("held");
  });
});
