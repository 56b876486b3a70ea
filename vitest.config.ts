import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that read or replace state of the whole process: metrics, the Temporal runtime. */
const ISOLATED = [
  'test/services/alerts.test.ts',
  'test/services/webhooks/dispatch/dispatch-metrics.test.ts',
  'test/workflows/webhooks/temporal-outage.test.ts',
];

/**
 * Part of `npm run test:all` only: journeys that kill processes, checks that need Python or compilers, waits of half a
 * minute and more, and sweeps over every page in Chromium, every documented operation or half a year of demo data.
 */
const SLOW = [
  'test/architecture/rpc-transports.test.ts',
  'test/docs/internal-api.test.ts',
  'test/journeys/{books.property,demo-connector,newcomer,outages,work-queues}.test.ts',
  'test/journeys/{database-failures,mutual-tls,point-in-time-recovery}.test.ts',
  'test/journeys/{traces-and-logs,wrong-clocks}.test.ts',
  'test/workflows/{bounded-histories,encoded-payloads,lost-state,secured-temporal}.test.ts',
  'test/workflows/accounts/{notify-contact,quiet-hour}.test.ts',
  'test/workflows/area-check/area-check.test.ts',
  'test/workflows/refunds/refund-funding.test.ts',
  'test/workflows/refunds/refund-fencing.property.test.ts',
  'test/services/funds/funds-database.property.test.ts',
  'test/workflows/webhooks/{changed-code,temporal-on-postgres}.test.ts',
  'test/services/webhooks/retention/{retention,retention-locks}.test.ts',
  'test/services/platform/database/{read-replicas,silent-database}.test.ts',
  'test/reconciliation/reconcile.test.ts',
  'test/local/{first-start,demo/demo-data}.test.ts',
  'test/gateway/{docs-browser,docs-samples,idempotency-crash}.test.ts',
  'test/{cli,client}/package.test.ts',
  'test/gateway/dashboard/api-keys/key-secrecy.test.ts',
  'test/gateway/dashboard/members/people-in-chromium.test.ts',
  'test/gateway/dashboard/sign-in/sign-in-browser.test.ts',
  'test/gateway/dashboard/probes/{forms,parameters,typed-values}.test.ts',
  'test/gateway/dashboard/tables-browser.test.ts',
  'test/gateway/dashboard/{advances,funds,overview,simulate}/*-browser.test.ts',
  'test/gateway/dashboard/simulate/simulate-workflows.test.ts',
  'test/gateway/dashboard/webhooks/subscriptions/{webhooks-browser,secret-in-logs}.test.ts',
  'test/gateway/dashboard/webhooks/deliveries/deliveries-{chromium,live}.test.ts',
];

/** Journeys that fill the machine with faults or processes: after `slow`, three at a time, since each waits for minutes to recover. */
const FAULTS = [
  'test/journeys/{chaos-month,frozen-services,saga-faults,upgrade}.test.ts',
  'test/reconciliation/reconciliation.test.ts',
];

/**
 * What measures times, counts within a second or expects that no request fails: one at a time, and beside nothing, in a run of
 * its own.
 */
const ALONE = [
  'test/journeys/{isolation,separate-processes,takeover}.test.ts',
  'test/gateway/rate-limit-store.test.ts',
];

/** Only in `npm run isolation`: it takes minutes. */
const LONG = ['test/journeys/isolation-burdens.test.ts'];

/** The files that take longest. They start first, so that none of them is left running alone at the end. */
const LONGEST = [
  ...['journeys/saga-faults', 'journeys/chaos-month', 'reconciliation/reconciliation', 'journeys/upgrade'],
  ...['journeys/newcomer', 'docs/internal-api', 'gateway/dashboard/tables-browser'],
  ...['journeys/point-in-time-recovery', 'journeys/database-failures', 'journeys/outages'],
  ...['services/funds/funds-database.property', 'journeys/books.property', 'local/demo/demo-data'],
  ...['journeys/demo-connector', 'workflows/webhooks/changed-code', 'journeys/mutual-tls'],
  ...[
    'journeys/wrong-clocks',
    'gateway/dashboard/probes/parameters',
    'gateway/dashboard/probes/typed-values',
  ],
  ...['workflows/area-check/area-check', 'services/platform/database/read-replicas'],
  ...['workflows/refunds/refund-funding', 'workflows/secured-temporal', 'gateway/docs-browser'],
  ...[
    'gateway/dashboard/webhooks/subscriptions/webhooks-browser',
    'workflows/refunds/refund-fencing.property',
  ],
  ...['local/first-start', 'architecture/rpc-transports'],
  ...[
    'workflows/advances/advance-payout',
    'architecture/tenant-statements',
    'services/webhooks/subscriptions/pause',
  ],
  // Files of a few lines, which would be last: what they do is in test/support/list-suite.ts.
  ...[
    'services/refunds/list-refund-cases',
    'services/funds/statement/list-movements',
    'services/funds/debts/list-debts',
  ],
  ...[
    'services/funds/releases/list-release-sales',
    'services/refunds/disputes/list-disputes',
    'services/funds/sales/list-sales',
  ],
  ...['services/funds/account-contention', 'workflows/refunds/refund-holds', 'gateway/main'],
].map((name) => `/test/${name}.test.ts`);

/**
 * Of each project, starts the longest files first; then alternates files that wait for workflows with files that compute,
 * so that both keep the machine busy. Projects do not mix: a worker ends where the next file is of another one.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...Map.groupBy(sorted, ({ project }) => project.name).values()].flatMap((ofProject) => {
      const longest = ofProject.filter((file) => rankOf(file) >= 0).sort((a, b) => rankOf(a) - rankOf(b));
      return [...longest, ...alternating(ofProject.filter((file) => !longest.includes(file)))];
    });
  }
}

const rankOf = ({ moduleId }: TestSpecification) => LONGEST.findIndex((name) => moduleId.endsWith(name));

function alternating(files: readonly TestSpecification[]): TestSpecification[] {
  const waiting = files.filter(({ moduleId }) => moduleId.includes('/test/workflows/'));
  const computing = files.filter((file) => !waiting.includes(file));
  const mixed = computing.flatMap((file, at) => [...waiting.slice(at, at + 1), file]);
  return [...mixed, ...waiting.slice(computing.length)];
}

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
    testTimeout?: number;
    maxWorkers?: number;
    sequence?: { groupOrder: number };
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

export default defineConfig({
  test: {
    setupFiles: ['test/support/replay.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    runner: 'test/support/limited-imports.ts',
    // Many tests wait for a timer or another process: more than two for each core keep the machine busy.
    maxWorkers: Math.min(Math.max(Math.round(availableParallelism() * 2.5), 3), 8),
    sequence: { sequencer: LongestFirst },
    // A larger young generation takes a sixth off the processor time of the workers: far less of it is copied.
    execArgv: ['--min-semi-space-size=32', '--max-semi-space-size=64'],
    // What the worker processes have compiled, and the programs that tests start, is not compiled again.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/compile', import.meta.url)) },
    // For a machine that is full of other tests: a test that passes does not wait.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Beside other tests a machine is full: what must come is waited for, not timed, and each look takes time from others.
    expect: { poll: { timeout: 40_000, interval: 150 } },
    projects: [
      // In one project, so that what computes and what waits for timers share the machine, and modules.
      project('quick', ['test/**/*.test.ts'], {
        exclude: [...ISOLATED, ...SLOW, ...FAULTS, ...ALONE, ...LONG],
      }),
      project('isolated', ISOLATED, { isolate: true }),
      project('slow', SLOW, { testTimeout: 180_000 }),
      project('faults', FAULTS, { isolate: true, maxWorkers: 3, sequence: { groupOrder: 1 } }),
      project('alone', process.env.ISOLATION === 'long' ? [...ALONE, ...LONG] : ALONE, {
        isolate: true,
        maxWorkers: 1,
        sequence: { groupOrder: 2 },
      }),
    ],
  },
});
