import { defineConfig } from 'vitest/config';

/** The import rules alone, which need none of the servers of the tests: for `npm run check`. */
export default defineConfig({ test: { include: ['test/architecture/imports.test.ts'] } });
