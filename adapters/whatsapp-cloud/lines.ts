/** Something to do, in order with everything else of its line. */
export interface Task {
  readonly line: string;
  run(): Promise<void>;
}

/** A webhook call may hold a thousand updates, and has to be answered in the time of one. */
const atOnce = 32;

/**
 * Does all tasks: those of one line one after the other, lines side by side. A task that rejects ends its own line, and
 * keeps no other from being done; in the end the first rejection is the outcome.
 */
export async function inLines(tasks: readonly Task[]): Promise<void> {
  const lines = new Map<string, Task[]>();
  for (const task of tasks) {
    const line = lines.get(task.line);
    if (line) line.push(task);
    else lines.set(task.line, [task]);
  }
  const waiting = [...lines.values()];
  const failures: unknown[] = [];
  const work = async (): Promise<void> => {
    for (let line = waiting.shift(); line; line = waiting.shift()) {
      try {
        for (const task of line) await task.run();
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  if (failures.length > 0) throw failures[0];
}
