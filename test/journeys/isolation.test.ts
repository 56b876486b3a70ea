import { createHash, randomBytes } from 'node:crypto';
import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { findFreePort } from '../../local/ports.ts';
import { textTable } from '../../local/text-table.ts';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { EventService } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import {
  type TestTenant,
  type WebhooksFixture,
  webhooksFixture,
} from '../services/webhooks/webhooks-fixture.ts';
import { ALL_GRANTS, bearer, createTestDatabase, newKey, newTenant } from '../support/harness.ts';
import { loopbackSettings } from '../support/loopback-settings.ts';
import { median, quantile } from '../support/quantile.ts';
import { startTemporal, TEMPORAL_START_MS, type TestTemporal } from '../support/temporal.ts';
import { testWorkflowBundles } from '../support/temporal-namespace.ts';
import { type Receiver, startReceiver } from '../support/tls-receiver.ts';
import { type ChildProgram, startProgram } from './child-program.ts';
import { type EndpointFailure, HostileEndpoints } from './isolation-endpoints.ts';

/** `npm run isolation`: longer rounds, and more of them. For a machine that does nothing else. */
const IS_LONG = process.env.ISOLATION === 'long';
const ROUNDS = IS_LONG ? 5 : 1;
/** Other work on the machine may spoil some rounds, and then more follow; a fault of ours spoils all. */
const MOST_ROUNDS = 7;
const CALM_S = IS_LONG ? 60 : 12;
/** Longer than an attempt may take: what hangs runs out of time, is retried, and hangs again. */
const FAILING_S = IS_LONG ? 60 : 18;
const WARM_UP_S = 6;
const HEALTHY_PER_S = IS_LONG ? 100 : 50;
/** Events of another merchant, each sent to all of their endpoints: more than these can take while they fail. */
const OTHERS_PER_S = IS_LONG ? 20 : 5;
/**
 * Isolation is promised below saturation, and two cores that are half busy already make events wait for each other.
 * When the machine is busier than this beside failing endpoints, for whatever reason, the round does not count, and
 * the next ones have half as many events of both merchants.
 */
const MOST_BUSY = 0.5;
/** Of OTHERS_PER_S and HEALTHY_PER_S. */
const LEAST_SHARE = 1 / 4;

/**
 * The limit of a merchant's p95 beside failing endpoints, given the one beside as many events to healthy endpoints;
 * in milliseconds.
 */
const mostMs = (calmMs: number) => Math.max(calmMs * 1.5, calmMs < 10 ? calmMs + 5 : 0);

const HEALTHY_PATH = '/healthy';

let temporal: TestTemporal;
let endpoints: HostileEndpoints;
let receiver: Receiver;
let system: ChildProgram[] = [];
let fixture: WebhooksFixture;
/** When each event first arrived at the healthy endpoint, by id. */
const arrivedAt = new Map<string, number>();

beforeAll(async () => {
  temporal = await startTemporal();
  endpoints = await HostileEndpoints.start();
  // One server for the healthy endpoint and some of the others, because endpoints on one host must share nothing
  // else.
  receiver = await startReceiver((request, response) => {
    if (endpoints.respond(request, response)) return;
    if (request.url !== HEALTHY_PATH) return void response.writeHead(204).end();
    const id = String(request.headers['webhook-id']);
    if (!arrivedAt.has(id)) arrivedAt.set(id, Date.now());
    response.writeHead(204).end();
  });
  const port = await findFreePort();
  const token = `mps_${randomBytes(24).toString('base64url')}`;
  const key = () => `v1:${randomBytes(32).toString('base64')}`;
  const databaseUrl = await createTestDatabase();
  const shared = { HOST: '127.0.0.1', OPS_PORT: '0', LOG_LEVEL: 'fatal' };
  const baseUrl = `http://127.0.0.1:${port}`;
  system = [
    startProgram('services/main.ts', {
      ...shared,
      ...loopbackSettings(),
      DATABASE_URL: databaseUrl,
      GRPC_PORT: `${port}`,
      API_KEY_PEPPERS: key(),
      WEBHOOK_SECRET_KEYS: key(),
      CURSOR_KEYS: key(),
      SERVICE_TOKENS: `test|${createHash('sha256').update(token).digest('hex')}|${ALL_GRANTS.join(' ')}`,
    }),
    startProgram('workflows/main.ts', {
      ...{
        ...shared,
        ...testWorkflowBundles(),
        SERVICES_URL: baseUrl,
        SERVICE_TOKEN: token,
        TEMPORAL_ADDRESS: temporal.address,
      },
    }),
  ];
  const transport = createGrpcTransport({ baseUrl, interceptors: [bearer(token)] });
  const events = createClient(EventService, transport);
  await vi.waitFor(() => events.listEventTypes({}, { timeoutMs: 1_000 }), 60_000);
  fixture = webhooksFixture({ databaseUrl }, transport);
}, TEMPORAL_START_MS);

afterAll(async () => {
  for (const program of system) await program.kill();
  await endpoints?.[Symbol.asyncDispose]();
  await receiver?.[Symbol.asyncDispose]();
  await temporal?.[Symbol.asyncDispose]();
});

interface Published {
  readonly id: string;
  /** Just before the commit. */
  readonly atMs: number;
}

/** Publishes at a steady rate, however long responses take. */
async function publish(tenant: TestTenant, perSecond: number, seconds: number): Promise<Published[]> {
  const published: Promise<Published>[] = [];
  const startMs = performance.now();
  for (let count = 0; count < perSecond * seconds; count += 1) {
    await delay(Math.max(startMs + (count * 1_000) / perSecond - performance.now(), 0));
    published.push(
      fixture.publish(tenant).then(({ id, timestamp }) => ({ id, atMs: timestampMs(timestamp!) })),
    );
  }
  return Promise.all(published);
}

/** The times from commit to arrival of a merchant's events, in milliseconds. */
async function measure(tenant: TestTenant, perSecond: number, seconds: number): Promise<number[]> {
  const published = await publish(tenant, perSecond, seconds);
  await vi.waitFor(() => expect(published.filter(({ id }) => !arrivedAt.has(id))).toEqual([]), 60_000);
  return published.map(({ id, atMs }) => arrivedAt.get(id)! - atMs);
}

type Outcomes = Record<EndpointFailure, Record<string, number>>;

/** Measures next to the same number of events to healthy endpoints of another merchant. */
async function measureBesideHealthy(tenant: TestTenant, other: TestTenant, share: number): Promise<number[]> {
  for (const [n] of Object.keys(endpoints.urls(receiver.port)).entries())
    await fixture.subscribe(other, undefined, `https://localhost:${receiver.port}/calm/${n}`);
  const [latencies] = await Promise.all([
    measure(tenant, HEALTHY_PER_S * share, CALM_S),
    publish(other, OTHERS_PER_S * share, CALM_S),
  ]);
  return latencies;
}

/** Measures next to a new merchant all of whose endpoints fail. */
async function measureBesideFailing(tenant: TestTenant, failing: TestTenant, share: number) {
  const subscriptions = await Promise.all(
    Object.entries(endpoints.urls(receiver.port)).map(async ([failure, url]) => ({
      failure,
      subscriptionId: (await fixture.subscribe(failing, undefined, url)).id,
    })),
  );
  const busy = startCpuMeasurement();
  const [latencies] = await Promise.all([
    measure(tenant, HEALTHY_PER_S * share, FAILING_S),
    publish(failing, OTHERS_PER_S * share, FAILING_S),
  ]);
  const busyShare = busy();
  const outcomes = await Promise.all(
    subscriptions.map(async ({ failure, subscriptionId }) => [failure, await outcomesOf(subscriptionId)]),
  );
  return { latencies, busyShare, outcomes: Object.fromEntries(outcomes) as Outcomes };
}

/** @returns a function that returns the share of the machine's processor time that has not been idle since. */
function startCpuMeasurement(): () => number {
  const idleMs = () => cpus().reduce((sum, { times }) => sum + times.idle, 0);
  const [startMs, startIdleMs] = [performance.now(), idleMs()];
  return () => 1 - (idleMs() - startIdleMs) / ((performance.now() - startMs) * cpus().length);
}

/** Disables the subscriptions of a merchant, and waits until Temporal has nothing more to do for it. */
async function disableSubscriptions(failing: TestTenant): Promise<void> {
  const { subscriptions } = await fixture.subscriptions.listWebhookSubscriptions(failing);
  for (const { id } of subscriptions) {
    await fixture.subscriptions.disableWebhookSubscription({
      ...failing,
      subscriptionId: id,
      idempotencyKey: newKey(),
    });
  }
  await waitUntilQuiet();
}

/** The number of a subscription's attempts by outcome. */
async function outcomesOf(subscriptionId: string): Promise<Record<string, number>> {
  const rows = await fixture.sql<{ outcome: string; count: number }>(
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

const p95Of = (latencies: readonly number[]) => quantile(latencies, 0.95);

/** A round spoiled by other work on the machine does not change it. */
const medianP95 = (rounds: readonly number[][]) => median(rounds.map(p95Of));

const isWithinBound = (calm: readonly number[][], failing: readonly number[][]) =>
  medianP95(failing) <= mostMs(medianP95(calm));

function printLatencies(phases: readonly (readonly [name: string, latencies: readonly number[]])[]): void {
  const rows = phases.map(([name, latencies]) => {
    const shares = [0.5, 0.95, 0.99].map((share) => quantile(latencies, share));
    return [name, latencies.length, ...shares, Math.max(...latencies)].map(String);
  });
  const columns = ['phase', 'events', 'p50', 'p95', 'p99', 'max'];
  console.info(`ms from commit to arrival\n${textTable([columns, ...rows])}`);
}

it('a merchant’s latency stays the same whether the endpoints of another merchant are healthy or fail', async () => {
  const healthy = newTenant(Environment.TEST);
  await fixture.subscribe(healthy, undefined, `https://localhost:${receiver.port}${HEALTHY_PATH}`);
  await measure(healthy, HEALTHY_PER_S, WARM_UP_S);
  const calm: number[][] = [];
  const failing: number[][] = [];
  let failingTenant: TestTenant | undefined;
  let share = 1;
  while (calm.length < ROUNDS || (calm.length < MOST_ROUNDS && !isWithinBound(calm, failing))) {
    if (failingTenant) await disableSubscriptions(failingTenant);
    const calmLatencies = await measureBesideHealthy(healthy, newTenant(Environment.TEST), share);
    failingTenant = newTenant(Environment.TEST);
    const { latencies, busyShare, outcomes } = await measureBesideFailing(healthy, failingTenant, share);
    console.info(
      `${OTHERS_PER_S * share} events/s to ten failing endpoints, ${Math.round(busyShare * 100)} % busy`,
    );
    printLatencies([
      ['calm', calmLatencies],
      ['failing', latencies],
    ]);
    // Each endpoint failed again and again.
    expect(outcomes).toMatchObject({
      hangs: { TIMEOUT: expect.any(Number) },
      drips: { BODY_TIMEOUT: expect.any(Number) },
      slow: { 200: expect.any(Number) },
      'a 64 MB answer': { 200: expect.any(Number) },
      'no TLS': { TLS: expect.any(Number) },
      mute: { TLS_TIMEOUT: expect.any(Number) },
    });
    if (busyShare > MOST_BUSY && share > LEAST_SHARE) {
      share /= 2;
      continue;
    }
    calm.push(calmLatencies);
    failing.push(latencies);
  }
  expect(system.map(({ errors }) => errors)).toEqual(['', '']);
  const [calmP95, failingP95] = [medianP95(calm), medianP95(failing)];
  console.info(`median p95: ${calmP95} ms beside healthy endpoints, ${failingP95} ms beside failing ones`);
  expect(failingP95).toBeLessThanOrEqual(mostMs(calmP95));
}, 900_000);
