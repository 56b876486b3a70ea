import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

/** Files that read or replace state of the whole process: metrics, mocked modules, the Temporal runtime. */
const ISOLATED = [
  'test/services/alerts.test.ts',
  'test/services/webhooks/{subscriptions,dispatch-metrics}.test.ts',
  'test/services/{refunds/provider-silence,advances/stuck-payout-metrics}.test.ts',
  'test/services/platform/process/measured-gauges.test.ts',
  'test/workflows/webhooks/dispatch-metrics.test.ts',
];

/**
 * Part of `npm run test:all` only: journeys that kill processes, checks that need Python or compilers, waits of half a
 * minute and more, and sweeps over every page in Chromium, every documented operation or half a year of demo data.
 */
const SLOW = [
  'test/journeys/{books.property,demo-connector,outages,operations,refund-saga,resend,temporal-ui}.test.ts',
  'test/workflows/lost-state.test.ts',
  'test/workflows/accounts/{quiet-hour,worker-death}.test.ts',
  'test/workflows/area-check/area-check.test.ts',
  'test/workflows/{funds/funds-history,refunds/funding-history}.test.ts',
  'test/workflows/webhooks/{changed-code,eager-attempts}.test.ts',
  'test/services/webhooks/{retention,retention-locks}.test.ts',
  'test/services/platform/database/silent-database.test.ts',
  'test/reconciliation/*.test.ts',
  'test/local/{first-start,demo/demo-data}.test.ts',
  'test/gateway/{docs-browser,docs-samples,idempotency-crash,merchant-client}.test.ts',
  'test/gateway/dashboard/api-keys/key-secrecy.test.ts',
  'test/gateway/dashboard/members/people-in-chromium.test.ts',
  'test/gateway/dashboard/sign-in/sign-in-browser.test.ts',
  'test/gateway/dashboard/probes/{parameters,typed-values}.test.ts',
  'test/gateway/dashboard/{advances,funds,overview,simulate}/*-browser.test.ts',
  'test/gateway/dashboard/simulate/simulate-workflows.test.ts',
  'test/gateway/dashboard/webhooks/subscriptions/{webhooks-browser,secret-in-logs}.test.ts',
  'test/gateway/dashboard/webhooks/deliveries/deliveries-{chromium,journey,live}.test.ts',
];

/** Property tests of `npm test` that try more sequences in the slow project. */
const SLOW_PROPERTIES = [
  'test/services/funds/funds-{rules,database}.property.test.ts',
  'test/workflows/refunds/refund-fencing.property.test.ts',
];

/** What measures times, counts within a second, or fills the machine: after all the others, and beside nothing. */
const ALONE = [
  'test/journeys/{chaos-month,isolation,saga-faults}.test.ts',
  'test/gateway/rate-limit-store.test.ts',
];

const WORKFLOWS = [
  'test/workflows/**/*.test.ts',
  'test/gateway/dashboard/simulate/simulate-workflows.test.ts',
  'test/gateway/dashboard/webhooks/deliveries/deliveries-journey.test.ts',
];
const JOURNEYS = ['test/journeys/*.test.ts'];

/** A project of the suite; without `isolate`, its files share the modules of their worker. */
function project(
  name: string,
  include: string[],
  {
    exclude = [],
    ...more
  }: {
    exclude?: string[];
    isolate?: boolean;
    globalSetup?: string;
    env?: Record<string, string>;
    testTimeout?: number;
  },
) {
  return {
    extends: true as const,
    test: {
      name,
      include,
      isolate: false,
      sequence: { groupOrder: 0 },
      ...more,
      exclude: [...configDefaults.exclude, ...exclude],
    },
  };
}

/** One Temporal server and one bundle of the workflow code for the projects that need them. */
const TEMPORAL = { globalSetup: 'test/support/temporal-setup.ts' };

export default defineConfig({
  test: {
    setupFiles: ['test/support/replay.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // Many tests wait for a timer or another process: two for each core keep the machine busy.
    maxWorkers: Math.min(Math.max(availableParallelism() * 2, 3), 8),
    // For a machine that is full of other tests: a test that passes does not wait.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Beside other tests a machine is full: what must come is waited for, not timed.
    expect: { poll: { timeout: 40_000 } },
    projects: [
      project('areas', ['test/**/*.test.ts'], {
        exclude: [...ISOLATED, ...SLOW, ...ALONE, ...WORKFLOWS, ...JOURNEYS],
      }),
      project('workflows', WORKFLOWS, { exclude: [...ISOLATED, ...SLOW], ...TEMPORAL }),
      project('journeys', JOURNEYS, { exclude: [...SLOW, ...ALONE], ...TEMPORAL }),
      project('isolated', ISOLATED, { isolate: true, ...TEMPORAL }),
      project('slow', [...SLOW, ...SLOW_PROPERTIES], {
        env: { SLOW_PROPERTIES: 'true' },
        testTimeout: 180_000,
        ...TEMPORAL,
      }),
      {
        extends: true,
        test: { name: 'alone', include: ALONE, maxWorkers: 1, sequence: { groupOrder: 1 }, ...TEMPORAL },
      },
    ],
  },
});
