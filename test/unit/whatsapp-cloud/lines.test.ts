import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLines } from "../../../adapters/whatsapp-cloud/lines.js";

describe("what is to be done in order, line by line", () => {
  it("is done in the order in which it was given, over all calls, whatever fails and however long it takes", async () => {
    const task = fc.record({
      line: fc.constantFrom("a", "b", "c"),
      ms: fc.integer({ min: 0, max: 3 }),
      fails: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(task, { maxLength: 6 }), { maxLength: 4 }), async (calls) => {
        const inLines = createLines();
        const done: string[] = [];
        const outcomes = await Promise.allSettled(
          calls.map((tasks, call) =>
            inLines(
              tasks.map(({ line, ms, fails }, place) => ({
                line,
                async run() {
                  await sleep(ms);
                  if (fails) throw new Error("failed");
                  done.push(`${line}${call}.${place}`);
                },
              })),
            ),
          ),
        );
        // A task that fails ends its line in its own call.
        const expected = (line: string) =>
          calls.flatMap((tasks, call) => {
            const own = tasks
              .map((each, place) => ({ ...each, name: `${line}${call}.${place}` }))
              .filter((each) => each.line === line);
            const end = own.findIndex(({ fails }) => fails);
            return own.slice(0, end < 0 ? own.length : end).map(({ name }) => name);
          });
        for (const line of ["a", "b", "c"])
          expect(done.filter((name) => name.startsWith(line))).toEqual(expected(line));
        expect(outcomes.map(({ status }) => status === "rejected")).toEqual(
          calls.map((tasks) => tasks.some(({ fails }) => fails)),
        );
      }),
      { numRuns: 60 },
    );
  });
});
