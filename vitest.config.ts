import { configDefaults, defineConfig } from 'vitest/config';

/** What measures times: after all the others, and beside nothing. */
const ALONE = ['test/journeys/isolation.test.ts'];

export default defineConfig({
  test: {
    setupFiles: ['test/support/replay.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 120_000,
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
