import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

/** What measures times: after all the others, and beside nothing. */
const ALONE = ['test/journeys/isolation.test.ts'];

export default defineConfig({
  test: {
    setupFiles: ['test/support/replay.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // Tests wait for much: one core less than there are, vitest's own choice, would leave one of two cores idle.
    maxWorkers: Math.max(availableParallelism() - 1, 2),
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // Beside other tests a machine is full: what must come is waited for, not timed.
    expect: { poll: { timeout: 10_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'tests',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...ALONE],
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE, sequence: { groupOrder: 1 } } },
    ],
  },
});
