import { setTimeout as delay } from 'node:timers/promises';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { expect, vi } from 'vitest';
import { newKeyRings } from '../../local/generated-secrets.ts';
import { findFreePort } from '../../local/ports.ts';
import { textTable } from '../../local/text-table.ts';
import { EventService } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { BACKGROUND_NICENESS } from '../../services/platform/process/niceness.ts';
import { bearer } from '../../services/platform/rpc/remote-transport.ts';
import { type WebhooksFixture, webhooksFixture } from '../services/webhooks/webhooks-fixture.ts';
import { createTestDatabase, newWrite, type TestTenant } from '../support/harness.ts';
import { loopbackSettings } from '../support/loopback-settings.ts';
import { startProgram } from '../support/program.ts';
import { median, quantile } from '../support/quantile.ts';
import { newServiceToken } from '../support/secrets.ts';
import { startTemporal, type TestTemporal } from '../support/temporal.ts';
import { testWorkflowBundles } from '../support/temporal-namespace.ts';
import { type Receiver, startReceiver } from '../support/tls-receiver.ts';
import { HostileEndpoints } from './isolation-endpoints.ts';

const HEALTHY_PATH = '/healthy';
/** Begins the paths of endpoints that answer 500. */
export const FAILING_PATH = '/failing';

interface Published {
  readonly id: string;
  /** Just before the commit. */
  readonly atMs: number;
}

/** Services and a worker in processes of their own, and endpoints of merchants. */
export interface IsolationSystem extends AsyncDisposable {
  readonly temporal: TestTemporal;
  readonly receiver: Receiver;
  readonly endpoints: HostileEndpoints;
  readonly fixture: WebhooksFixture;
  /** The URL of the endpoint whose arrivals are measured. */
  readonly healthyUrl: string;
  /** What the processes have written to their standard error. */
  errors(): string[];
  /** Publishes at a steady rate, however long responses take. */
  publish(tenant: TestTenant, perSecond: number, seconds: number): Promise<Published[]>;
  /** The times from commit to arrival of a merchant's events, in milliseconds. */
  measure(tenant: TestTenant, perSecond: number, seconds: number): Promise<number[]>;
  /** Disables the subscriptions of a merchant. */
  disableSubscriptions(tenant: TestTenant): Promise<void>;
}

/** Starts the system. */
export async function startIsolationSystem(): Promise<IsolationSystem> {
  const temporal = await startTemporal({ niceness: BACKGROUND_NICENESS });
  const endpoints = await HostileEndpoints.start();
  /** When each event first arrived at the healthy endpoint, by id. */
  const arrivedAt = new Map<string, number>();
  // One server for the healthy endpoint and some of the others, because endpoints on one host must share nothing
  // else.
  const receiver = await startReceiver((request, response) => {
    if (endpoints.respond(request, response)) return;
    if (request.url!.startsWith(FAILING_PATH)) return void response.writeHead(500).end();
    if (request.url !== HEALTHY_PATH) return void response.writeHead(204).end();
    const id = String(request.headers['webhook-id']);
    if (!arrivedAt.has(id)) arrivedAt.set(id, Date.now());
    response.writeHead(204).end();
  });
  const port = await findFreePort();
  const { token, entry } = newServiceToken('test');
  const databaseUrl = await createTestDatabase();
  const shared = { HOST: '127.0.0.1', OPS_PORT: '0', LOG_LEVEL: 'fatal' };
  const baseUrl = `http://127.0.0.1:${port}`;
  const programs = [
    startProgram('services/main.ts', {
      ...shared,
      ...loopbackSettings(),
      DATABASE_URL: databaseUrl,
      GRPC_PORT: `${port}`,
      ...newKeyRings(),
      SERVICE_TOKENS: entry,
    }),
    startProgram('workflows/main.ts', {
      ...shared,
      ...testWorkflowBundles(),
      SERVICES_URL: baseUrl,
      SERVICE_TOKEN: token,
      TEMPORAL_ADDRESS: temporal.address,
    }),
  ];
  const transport = createGrpcTransport({ baseUrl, interceptors: [bearer(token)] });
  const events = createClient(EventService, transport);
  await vi.waitFor(() => events.listEventTypes({}, { timeoutMs: 1_000 }), 60_000);
  const fixture = webhooksFixture({ databaseUrl }, transport);

  const publish = async (tenant: TestTenant, perSecond: number, seconds: number): Promise<Published[]> => {
    const published: Promise<Published>[] = [];
    const startMs = performance.now();
    for (let count = 0; count < perSecond * seconds; count += 1) {
      await delay(Math.max(startMs + (count * 1_000) / perSecond - performance.now(), 0));
      published.push(
        fixture.publish(tenant).then(({ id, timestamp }) => ({ id, atMs: timestampMs(timestamp!) })),
      );
    }
    return Promise.all(published);
  };

  return {
    temporal,
    receiver,
    endpoints,
    fixture,
    healthyUrl: `https://localhost:${receiver.port}${HEALTHY_PATH}`,
    errors: () => programs.map(({ errors }) => errors()),
    publish,
    measure: async (tenant, perSecond, seconds) => {
      const published = await publish(tenant, perSecond, seconds);
      await vi.waitFor(() => expect(published.filter(({ id }) => !arrivedAt.has(id))).toEqual([]), 60_000);
      return published.map(({ id, atMs }) => arrivedAt.get(id)! - atMs);
    },
    disableSubscriptions: async (tenant) => {
      const { subscriptions } = await fixture.subscriptions.listWebhookSubscriptions({
        ...tenant,
        pageSize: 100,
      });
      for (const { id: subscriptionId } of subscriptions) {
        const write = { ...newWrite(tenant), subscriptionId };
        await fixture.subscriptions.disableWebhookSubscription(write);
      }
    },
    [Symbol.asyncDispose]: async () => {
      for (const program of programs) await program.kill();
      await endpoints[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
      await temporal[Symbol.asyncDispose]();
    },
  };
}

/**
 * The limit of a merchant's p95 beside another that is a burden, given the one beside as many events to healthy endpoints;
 * in milliseconds.
 */
const mostMs = (calmMs: number) => Math.max(calmMs * 1.5, calmMs < 10 ? calmMs + 5 : 0);

/** The median over rounds: one that is spoiled by other work on the machine does not change it. */
const medianP95 = (rounds: readonly number[][]) =>
  median(rounds.map((latencies) => quantile(latencies, 0.95)));

/** The limit of the slowest arrival, in milliseconds, wherever the p95 is. */
export const MOST_LAG_MS = 1_000;

/**
 * Compares the latencies of rounds, in milliseconds, beside healthy endpoints and beside a burden. Their lag is the slowest
 * arrival of the best round: other work on the machine delays one arrival of a round, and a fault of ours some of each.
 */
export function compareP95(calm: readonly number[][], burdened: readonly number[][]) {
  const [calmMs, burdenedMs] = [medianP95(calm), medianP95(burdened)];
  const lagMs = Math.min(...burdened.map((latencies) => Math.max(...latencies)));
  const isWithinBounds = burdenedMs <= mostMs(calmMs) && lagMs < MOST_LAG_MS;
  return { calmMs, burdenedMs, mostMs: mostMs(calmMs), lagMs, isWithinBounds };
}

/** Prints the latencies of each phase. */
export function printLatencies(
  phases: readonly (readonly [name: string, latencies: readonly number[]])[],
): void {
  const rows = phases.map(([name, latencies]) => {
    const shares = [0.5, 0.95, 0.99].map((share) => quantile(latencies, share));
    return [name, latencies.length, ...shares, Math.max(...latencies)].map(String);
  });
  const columns = ['phase', 'events', 'p50', 'p95', 'p99', 'max'];
  console.info(`ms from commit to arrival\n${textTable([columns, ...rows])}`);
}
