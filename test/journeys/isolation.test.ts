import { cpus } from 'node:os';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { newTenant, type TestTenant } from '../support/harness.ts';
import { TEMPORAL_START_MS } from '../support/temporal.ts';
import type { EndpointFailure, FailingEndpoint } from './isolation-endpoints.ts';
import {
  compareP95,
  type IsolationSystem,
  MOST_LAG_MS,
  printLatencies,
  startIsolationSystem,
} from './isolation-system.ts';

/** `npm run isolation`: longer rounds, and more of them. For a machine that does nothing else. */
const IS_LONG = process.env.ISOLATION === 'long';
const ROUNDS = IS_LONG ? 5 : 1;
/** Other work on the machine may spoil some rounds, and then more follow; a fault of ours spoils all. */
const MOST_ROUNDS = 7;
const CALM_S = IS_LONG ? 60 : 12;
/** Longer than an attempt may take: what hangs runs out of time, is retried, and hangs again. */
const FAILING_S = IS_LONG ? 60 : 18;
const WARM_UP_S = 6;
const HEALTHY_PER_S = IS_LONG ? 100 : 25;
/** Events of another merchant, each sent to all of their endpoints: more than these can take while they fail. */
const OTHERS_PER_S = IS_LONG ? 20 : 2.5;
/**
 * Isolation is promised below saturation, and two cores that are half busy already make events wait for each other.
 * When a round is beyond the bound and the machine was busier than this beside failing endpoints, for whatever reason, the
 * round does not count, and the next ones have half as many events of both merchants.
 */
const MOST_BUSY = 0.5;
/** Of OTHERS_PER_S and HEALTHY_PER_S. */
const LEAST_SHARE = IS_LONG ? 1 / 4 : 1 / 2;

let system: IsolationSystem;

beforeAll(async () => {
  system = await startIsolationSystem();
}, TEMPORAL_START_MS);

afterAll(() => system?.[Symbol.asyncDispose]());

/** The outcomes of the attempts at each: it fails again and again. */
const OUTCOMES: Readonly<Record<EndpointFailure, object>> = {
  hangs: { TIMEOUT: expect.any(Number) },
  drips: { BODY_TIMEOUT: expect.any(Number) },
  slow: { 200: expect.any(Number) },
  'a 64 MB answer': { 200: expect.any(Number) },
  'no TLS': { TLS: expect.any(Number) },
  mute: { TLS_TIMEOUT: expect.any(Number) },
};

/** Measures next to the same number of events to as many healthy endpoints of another merchant. */
async function measureBesideHealthy(tenant: TestTenant, endpoints: number, share: number): Promise<number[]> {
  const { fixture, receiver } = system;
  const other = newTenant(Environment.TEST);
  for (let n = 0; n < endpoints; n += 1)
    await fixture.subscribe(other, undefined, `https://localhost:${receiver.port}/calm/${n}`);
  const [latencies] = await Promise.all([
    system.measure(tenant, HEALTHY_PER_S * share, CALM_S),
    system.publish(other, OTHERS_PER_S * share, CALM_S),
  ]);
  return latencies;
}

/** Measures next to a new merchant all of whose endpoints fail. */
async function measureBesideFailing(
  tenant: TestTenant,
  failing: TestTenant,
  endpoints: readonly FailingEndpoint[],
  share: number,
) {
  const { fixture } = system;
  const subscriptions = await Promise.all(
    endpoints.map(async ({ failure, url }) => ({
      failure,
      subscriptionId: (await fixture.subscribe(failing, undefined, url)).id,
    })),
  );
  const busy = startCpuMeasurement();
  const [latencies] = await Promise.all([
    system.measure(tenant, HEALTHY_PER_S * share, FAILING_S),
    system.publish(failing, OTHERS_PER_S * share, FAILING_S),
  ]);
  const busyShare = busy();
  for (const { failure, subscriptionId } of subscriptions)
    expect(await outcomesOf(subscriptionId), failure).toMatchObject(OUTCOMES[failure]);
  return { latencies, busyShare };
}

/** @returns a function that returns the share of the machine's processor time that has not been idle since. */
function startCpuMeasurement(): () => number {
  const idleMs = () => cpus().reduce((sum, { times }) => sum + times.idle, 0);
  const [startMs, startIdleMs] = [performance.now(), idleMs()];
  return () => 1 - (idleMs() - startIdleMs) / ((performance.now() - startMs) * cpus().length);
}

/** The number of a subscription's attempts by outcome. */
async function outcomesOf(subscriptionId: string): Promise<Record<string, number>> {
  const rows = await system.fixture.sql<{ outcome: string; count: number }>(
    `select coalesce(a.failure, a.http_status::text) as outcome, count(*)::int
       from webhooks.delivery d
       join webhooks.delivery_attempt a
         on a.merchant_id = d.merchant_id and a.environment = d.environment and a.delivery_id = d.id
      where d.subscription_id = $1 and a.ended_at is not null group by 1`,
    [subscriptionId],
  );
  return Object.fromEntries(rows.map(({ outcome, count }) => [outcome, count]));
}

/** Closes the connections of failing endpoints, and waits for the end of their workflows. */
async function waitUntilQuiet(): Promise<void> {
  const { endpoints, fixture, temporal } = system;
  const running = "WorkflowType = 'retryDelivery' and ExecutionStatus = 'Running'";
  // A canceled delivery's workflow waits idly for its own cancellation.
  let before = -1;
  await vi.waitFor(
    async () => {
      endpoints.hangUp();
      const { count } = await temporal.client.workflow.count(running);
      const was = before;
      before = count;
      expect(count).toBe(was);
      expect(await fixture.sql('select from webhooks.attempt where ended_at is null limit 1')).toEqual([]);
    },
    { timeout: 90_000, interval: 3_000 },
  );
}

type Endpoints = () => FailingEndpoint[];

const FAILING: Readonly<Record<string, Endpoints>> = {
  'fail in every way': () => system.endpoints.failingInEveryWay(system.receiver.port),
  ...(IS_LONG && { 'all hang': () => system.endpoints.hanging(system.receiver.port, 10) }),
};

/** The merchant whose endpoints failed last. */
let failingTenant: TestTenant | undefined;

it.each(Object.entries(FAILING))(
  'a merchant’s latency stays the same whether the endpoints of another merchant are healthy or %s',
  async (how, endpointsOf) => {
    const endpoints = endpointsOf();
    const healthy = newTenant(Environment.TEST);
    await system.fixture.subscribe(healthy, undefined, system.healthyUrl);
    await system.measure(healthy, HEALTHY_PER_S, WARM_UP_S);
    const calm: number[][] = [];
    const failing: number[][] = [];
    let share = 1;
    while (calm.length < ROUNDS || (calm.length < MOST_ROUNDS && !compareP95(calm, failing).isWithinBounds)) {
      if (failingTenant) {
        await system.disableSubscriptions(failingTenant);
        await waitUntilQuiet();
      }
      const calmLatencies = await measureBesideHealthy(healthy, endpoints.length, share);
      failingTenant = newTenant(Environment.TEST);
      const { latencies, busyShare } = await measureBesideFailing(healthy, failingTenant, endpoints, share);
      console.info(
        `${OTHERS_PER_S * share} events/s to each of ${endpoints.length} endpoints that ${how}, ` +
          `${Math.round(busyShare * 100)} % busy`,
      );
      printLatencies([
        ['calm', calmLatencies],
        ['failing', latencies],
      ]);
      const { isWithinBounds } = compareP95([calmLatencies], [latencies]);
      if (!isWithinBounds && busyShare > MOST_BUSY && share > LEAST_SHARE) {
        share /= 2;
        continue;
      }
      calm.push(calmLatencies);
      failing.push(latencies);
    }
    expect(system.errors()).toEqual(['', '']);
    const { calmMs, burdenedMs, mostMs, lagMs } = compareP95(calm, failing);
    console.info(`median p95: ${calmMs} ms beside healthy endpoints, ${burdenedMs} ms beside failing ones`);
    expect(burdenedMs).toBeLessThanOrEqual(mostMs);
    expect(lagMs).toBeLessThan(MOST_LAG_MS);
  },
  IS_LONG ? 1_800_000 : 900_000,
);
