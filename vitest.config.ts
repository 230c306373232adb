import { defineConfig } from "vitest/config";

/** One project a kind of test. `attacks` and `e2e` drive the built `dale`; `chaos` is long and runs by itself. */
const project = (name: string, extra: Record<string, unknown> = {}) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.ts`], ...extra },
});

export default defineConfig({
  test: {
    globalSetup: ["test/fixtures/redis-global.ts"],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 5_000 } },
    maxWorkers: 2,
    projects: [
      project("unit"),
      project("contracts"),
      project("integration"),
      project("attacks", { testTimeout: 60_000 }),
      project("e2e", { testTimeout: 90_000, hookTimeout: 90_000 }),
      project("chaos", { testTimeout: 600_000 }),
    ],
  },
});
