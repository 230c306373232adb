import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type ConsumeOptions,
  type OrderedQueue,
  PostponeJob,
  type QueueConsumer,
  type QueueJob,
  type RunningJob,
} from "../../src/queue/index.js";

export interface Item {
  readonly n: number;
}

export interface OrderedQueueUnderTest {
  /**
   * Another process's view of the queue of that name: all of one name share jobs. With 2 attempts, short backoff, and
   * ids remembered for `rememberedMs` after a job.
   */
  open(name: string): OrderedQueue<Item>;
  readonly rememberedMs: number;
  close(): Promise<void>;
}

/** What every ordered queue promises, on the implementation that `start` makes. */
export function orderedQueueContract(what: string, start: () => Promise<OrderedQueueUnderTest>): void {
  describe(`${what} keeps the promises of an ordered queue`, () => {
    let under: OrderedQueueUnderTest;
    let opened: OrderedQueue<Item>[];
    let consumers: QueueConsumer[];

    beforeEach(async () => {
      under = await start();
      opened = [];
      consumers = [];
    });
    afterEach(async () => {
      await Promise.all(consumers.map((consumer) => consumer.close(0)));
      await Promise.all(opened.map((queue) => queue.close()));
      await under.close();
    });

    const open = (name = "q") => {
      const queue = under.open(name);
      opened.push(queue);
      return queue;
    };
    const consume = async (
      queue: OrderedQueue<Item>,
      handler: (job: RunningJob<Item>) => Promise<void>,
      options?: ConsumeOptions<Item>,
    ) => {
      const consumer = await queue.consume(handler, options);
      consumers.push(consumer);
      return consumer;
    };
    const job = (key: string, n: number): QueueJob<Item> => ({
      id: `${key.replaceAll(":", "_")}-${n}`,
      key,
      data: { n },
    });
    const addAll = async (queue: OrderedQueue<Item>, key: string, count: number) => {
      for (let n = 0; n < count; n++) expect(await queue.add(job(key, n))).toBe("queued");
    };

    describe("order", () => {
      it("runs the jobs of a key one at a time, in the order in which they were added", async () => {
        const queue = open();
        const log: string[] = [];
        await addAll(queue, "telegram:bot:1:1", 8);
        await consume(queue, async ({ data }) => {
          log.push(`begin ${data.n}`);
          await sleep(5 - (data.n % 5));
          log.push(`end ${data.n}`);
        });
        await expect.poll(() => log.length, { timeout: 10_000 }).toBe(16);
        expect(log).toEqual([0, 1, 2, 3, 4, 5, 6, 7].flatMap((n) => [`begin ${n}`, `end ${n}`]));
      });

      it("lets no key wait for another's slow job", async () => {
        const queue = open();
        const done: string[] = [];
        let finishSlow = () => {};
        const slow = new Promise<void>((resolve) => {
          finishSlow = resolve;
        });
        await addAll(queue, "slow", 2);
        await addAll(queue, "quick", 3);
        await consume(queue, async ({ id, key }) => {
          if (key === "slow") await slow;
          done.push(id);
        });
        await expect.poll(() => done).toEqual(["quick-0", "quick-1", "quick-2"]);
        finishSlow();
        await expect.poll(() => done.slice(3)).toEqual(["slow-0", "slow-1"]);
      });

      it("keeps the order when several processes add and several consume", async () => {
        const [one, two] = [open(), open()];
        const seen = new Map<string, number[]>();
        const handler = async ({ key, data }: RunningJob<Item>) => {
          await sleep(data.n % 3);
          seen.set(key, [...(seen.get(key) ?? []), data.n]);
        };
        await consume(one, handler);
        await consume(two, handler);
        const keys = Array.from({ length: 12 }, (_, k) => `k${k}`);
        await Promise.all(
          keys.map(async (key, k) => {
            for (let n = 0; n < 10; n++) await ((n + k) % 2 === 0 ? one : two).add(job(key, n));
          }),
        );
        await expect.poll(() => [...seen.values()].flat().length, { timeout: 10_000 }).toBe(120);
        for (const key of keys) expect(seen.get(key)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      });

      it("runs at most as many jobs at once as it was told", async () => {
        const queue = open();
        let now = 0;
        let most = 0;
        let done = 0;
        for (let k = 0; k < 10; k++) await queue.add(job(`k${k}`, 0));
        await consume(
          queue,
          async () => {
            most = Math.max(most, ++now);
            await sleep(10);
            now--;
            done++;
          },
          { concurrency: 3 },
        );
        await expect.poll(() => done).toBe(10);
        expect(most).toBe(3);
      });
    });

    describe("adding", () => {
      it("keeps a job until there is somebody to take it", async () => {
        const first = open();
        await addAll(first, "a", 2);
        await first.close();
        const seen: QueueJob<Item>[] = [];
        await consume(open(), async ({ id, key, data }) => {
          seen.push({ id, key, data });
        });
        await expect.poll(() => seen).toEqual([job("a", 0), job("a", 1)]);
      });

      it("takes the same id once: while it waits, while it runs and when it is done", async () => {
        const [queue, other] = [open(), open()];
        let runs = 0;
        let finish = () => {};
        const until = new Promise<void>((resolve) => {
          finish = resolve;
        });
        expect(await queue.add(job("a", 0))).toBe("queued");
        expect(await other.add(job("a", 0))).toBe("duplicate");
        await consume(queue, async () => {
          runs++;
          await until;
        });
        await expect.poll(() => runs).toBe(1);
        expect(await other.add(job("a", 0))).toBe("duplicate");
        finish();
        await expect.poll(async () => (await queue.counts()).active).toBe(0);
        expect(await other.add(job("a", 0))).toBe("duplicate");
        expect(await queue.add(job("a", 1))).toBe("queued");
        await expect.poll(() => runs).toBe(2);
      });

      it("takes the same id once when it is added many times at once", async () => {
        const [queue, other] = [open(), open()];
        const answers = await Promise.all(
          Array.from({ length: 20 }, (_, i) => (i % 2 ? queue : other).add(job("a", 0))),
        );
        expect(answers.filter((answer) => answer === "queued")).toHaveLength(1);
        expect(await queue.counts()).toMatchObject({ waiting: 1 });
      });

      it("forgets an id when the window is over, and not before", async () => {
        const queue = open();
        let runs = 0;
        await consume(queue, async () => {
          runs++;
        });
        await queue.add(job("a", 0));
        await expect.poll(() => runs).toBe(1);
        expect(await queue.add(job("a", 0))).toBe("duplicate");
        await sleep(under.rememberedMs + 100);
        expect(await queue.add(job("a", 0))).toBe("queued");
        await expect.poll(() => runs).toBe(2);
      });

      it("knows nothing of another queue's ids and keys", async () => {
        const [one, two] = [open("one"), open("two")];
        expect(await one.add(job("a", 0))).toBe("queued");
        expect(await two.add(job("a", 0))).toBe("queued");
        const seen: string[] = [];
        await consume(two, async ({ id }) => {
          seen.push(id);
        });
        await expect.poll(() => seen).toEqual(["a-0"]);
        expect(await one.counts()).toMatchObject({ waiting: 1 });
      });

      it.each(["", "a:b", "42"])("refuses the id %j", async (id) => {
        await expect(open().add({ id, key: "a", data: { n: 0 } })).rejects.toMatchObject({ code: "config_invalid" });
      });
    });

    describe("failures", () => {
      it("tries a job again at its place in line, and tells each run which it is", async () => {
        const queue = open();
        const seen: unknown[] = [];
        await addAll(queue, "a", 2);
        await consume(queue, async ({ id, attempt, lastAttempt }) => {
          seen.push([id, attempt, lastAttempt]);
          if (id === "a-0" && attempt === 1) throw new Error("not yet");
        });
        await expect
          .poll(() => seen)
          .toEqual([
            ["a-0", 1, false],
            ["a-0", 2, true],
            ["a-1", 1, false],
          ]);
      });

      it("gives every run a larger fence than any run before it", async () => {
        const queue = open();
        const fences: number[] = [];
        await addAll(queue, "a", 3);
        await consume(queue, async ({ fence, attempt }) => {
          fences.push(fence);
          if (attempt === 1) throw new Error("not yet");
        });
        await expect.poll(() => fences.length).toBe(6);
        expect(fences.every(Number.isSafeInteger)).toBe(true);
        expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b));
      });

      it("says once that a job is dead, and lets its successors go on only then", async () => {
        const queue = open();
        const log: string[] = [];
        await addAll(queue, "a", 2);
        await consume(
          queue,
          async ({ id }) => {
            log.push(`run ${id}`);
            if (id === "a-0") throw new Error("never");
          },
          {
            onDead: async (dead) => {
              log.push(`dead ${dead.id} of ${dead.key} with ${dead.data.n}`);
              await sleep(50);
              log.push("told");
            },
          },
        );
        await expect.poll(() => log).toEqual(["run a-0", "run a-0", "dead a-0 of a with 0", "told", "run a-1"]);
        await expect.poll(() => queue.counts()).toMatchObject({ failed: 1, waiting: 0 });
        expect(await queue.add(job("a", 0))).toBe("duplicate");
      });

      it("lets the successors go on when nobody could be told, after three tries", async () => {
        const queue = open();
        const log: string[] = [];
        await addAll(queue, "a", 2);
        await consume(
          queue,
          async ({ id }) => {
            if (id === "a-0") throw new Error("never");
            log.push(id);
          },
          {
            onDead: async () => {
              log.push("dead");
              throw new Error("nobody there");
            },
          },
        );
        await expect.poll(() => log, { timeout: 5000 }).toEqual(["dead", "dead", "dead", "a-1"]);
      });

      it("runs a postponed job later, at its place and without counting the attempt", async () => {
        const queue = open();
        const seen: unknown[] = [];
        await addAll(queue, "a", 2);
        await queue.add(job("b", 0));
        let postponed = 0;
        await consume(queue, async ({ id, attempt, lastAttempt }) => {
          if (id === "a-0" && postponed++ < 4) throw new PostponeJob(20);
          seen.push([id, attempt, lastAttempt]);
        });
        await expect
          .poll(() => seen)
          .toEqual([
            ["b-0", 1, false],
            ["a-0", 1, false],
            ["a-1", 1, false],
          ]);
      });

      it("treats a job whose data nobody can read as one that failed", async () => {
        const queue = open();
        const seen: string[] = [];
        await queue.add({ id: "bad", key: "a", data: { n: Number.NaN } });
        await queue.add(job("a", 1));
        await consume(queue, async ({ id }) => {
          seen.push(id);
        });
        await expect.poll(() => seen).toEqual(["a-1"]);
        await expect.poll(() => queue.counts()).toMatchObject({ failed: 1 });
      });
    });

    describe("a consumer", () => {
      it("lets running jobs finish when it is closed, and takes no more", async () => {
        const queue = open();
        const log: string[] = [];
        let finish = () => {};
        const until = new Promise<void>((resolve) => {
          finish = resolve;
        });
        await addAll(queue, "a", 2);
        const consumer = await consume(queue, async ({ id }) => {
          log.push(`begin ${id}`);
          await until;
          log.push(`end ${id}`);
        });
        await expect.poll(() => log).toEqual(["begin a-0"]);
        const closed = consumer.close();
        await sleep(50);
        finish();
        await closed;
        expect(log).toEqual(["begin a-0", "end a-0"]);
        await consume(open(), async ({ id }) => {
          log.push(`elsewhere ${id}`);
        });
        await expect.poll(() => log.at(-1)).toBe("elsewhere a-1");
      });

      it("aborts what still runs when the grace period is over; it runs elsewhere, with the attempt not counted", async () => {
        const queue = open();
        const log: string[] = [];
        await queue.add(job("a", 0));
        const consumer = await consume(queue, async ({ signal }) => {
          log.push("begin");
          await new Promise((_, reject) => {
            signal.addEventListener("abort", () => reject(new Error("stopped")));
          });
        });
        await expect.poll(() => log).toEqual(["begin"]);
        await consumer.close(20);
        await consume(open(), async ({ attempt }) => {
          log.push(`attempt ${attempt}`);
        });
        await expect.poll(() => log).toEqual(["begin", "attempt 1"]);
      });

      it("takes nothing while it is paused", async () => {
        const queue = open();
        const seen: string[] = [];
        const consumer = await consume(queue, async ({ id }) => {
          seen.push(id);
        });
        await addAll(queue, "before", 1);
        await expect.poll(() => seen.splice(0)).toEqual(["before-0"]);
        // By now it waits for the next job, which comes after the pause.
        await sleep(50);
        await consumer.pause();
        await addAll(queue, "a", 2);
        await sleep(100);
        expect(seen).toEqual([]);
        expect(await queue.counts()).toMatchObject({ waiting: 2 });
        await consumer.resume();
        await expect.poll(() => seen).toEqual(["a-0", "a-1"]);
      });

      it("counts what waits, runs and is finished", async () => {
        const queue = open();
        expect(await queue.counts()).toEqual({ waiting: 0, active: 0, failed: 0, completed: 0 });
        await addAll(queue, "a", 3);
        await queue.add(job("b", 0));
        expect(await queue.counts()).toEqual({ waiting: 4, active: 0, failed: 0, completed: 0 });
        let finish = () => {};
        const until = new Promise<void>((resolve) => {
          finish = resolve;
        });
        await consume(queue, () => until);
        await expect.poll(() => queue.counts()).toEqual({ waiting: 2, active: 2, failed: 0, completed: 0 });
        finish();
        await expect.poll(() => queue.counts()).toEqual({ waiting: 0, active: 0, failed: 0, completed: 4 });
      });
    });

    it("loses, repeats and reorders nothing, whatever fails or is postponed on the way", async () => {
      type Fate = "ok" | "fails once" | "dies" | "postponed";
      const fate = fc.constantFrom<Fate>("ok", "ok", "fails once", "dies", "postponed");
      const lines = fc.array(fc.array(fate, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 6 });
      let round = 0;
      await fc.assert(
        fc.asyncProperty(lines, async (fates) => {
          const name = `p${round++}`;
          const queues = [under.open(name), under.open(name)] as const;
          const done = new Map<string, string[]>();
          const tries = new Map<string, number>();
          const log = (key: string, what: string) => done.set(key, [...(done.get(key) ?? []), what]);
          const handler = async ({ id, key, data }: RunningJob<Item>) => {
            const count = (tries.get(id) ?? 0) + 1;
            tries.set(id, count);
            const destiny = fates[Number(key.slice(1))]?.[data.n];
            if (destiny === "dies" || (destiny === "fails once" && count === 1)) throw new Error("by fate");
            if (destiny === "postponed" && count === 1) throw new PostponeJob(5);
            log(key, `${data.n}`);
          };
          const onDead = async ({ key, data }: QueueJob<Item>) => void log(key, `${data.n} dead`);
          const taken = await Promise.all(queues.map((queue) => queue.consume(handler, { onDead, concurrency: 3 })));
          await Promise.all(
            fates.map(async (line, k) => {
              for (const n of line.keys()) await queues[(n + k) % 2 ? 0 : 1].add(job(`k${k}`, n));
            }),
          );
          const expected = new Map(
            fates.map((line, k) => [`k${k}`, line.map((each, n) => (each === "dies" ? `${n} dead` : `${n}`))]),
          );
          await expect
            .poll(() => [...done.values()].flat().length, { timeout: 10_000, interval: 5 })
            .toBe(fates.flat().length);
          await Promise.all(taken.map((consumer) => consumer.close()));
          await Promise.all(queues.map((queue) => queue.close()));
          expect(done).toEqual(expected);
        }),
        { numRuns: 12 },
      );
    });
  });
}
