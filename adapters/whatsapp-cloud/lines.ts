/** Something to do, in order with everything else of its line. */
export interface Task {
  readonly line: string;
  run(): Promise<void>;
}

/**
 * Does all tasks: those of one line one after the other, behind what was given for that line before, lines side by side.
 * A task that rejects ends its own line in this call, and keeps no other from being done; in the end the first
 * rejection is the outcome.
 */
export type Lines = (tasks: readonly Task[]) => Promise<void>;

/** A webhook call may hold a thousand updates, and has to be answered in the time of one. */
const atOnce = 32;

export function createLines(): Lines {
  /** The end of what each line was given last, while that is not done. Never rejects. */
  const ends = new Map<string, Promise<void>>();

  return async (tasks) => {
    const lines = new Map<string, Task[]>();
    for (const task of tasks) {
      const line = lines.get(task.line);
      if (line) line.push(task);
      else lines.set(task.line, [task]);
    }
    const waiting = [...lines].map(([line, own]) => {
      const before = ends.get(line);
      let done = () => {};
      const end = new Promise<void>((resolve) => {
        done = resolve;
      });
      ends.set(line, end);
      return { line, own, before, end, done };
    });
    const failures: unknown[] = [];
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        try {
          await next.before;
          for (const task of next.own) await task.run();
        } catch (error) {
          failures.push(error);
        } finally {
          next.done();
          if (ends.get(next.line) === next.end) ends.delete(next.line);
        }
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    if (failures.length > 0) throw failures[0];
  };
}
