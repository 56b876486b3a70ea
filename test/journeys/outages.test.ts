import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findFreePort } from '../../local/ports.ts';
import {
  DeliveryStatus,
  EventService,
  WebhookSubscriptionState,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { ALL_GRANTS, bearer, createTestDatabase, startHarness } from '../support/harness.ts';
import { startHarnessWorker } from '../support/harness-worker.ts';
import { loopbackSettings } from '../support/loopback-settings.ts';
import { startTemporal, TEMPORAL_START_MS, type TestTemporal } from '../support/temporal.ts';
import { startReceiver } from '../support/tls-receiver.ts';
import { startProgram } from './child-program.ts';
import { SandboxMerchant } from './sandbox-merchant.ts';

const { ACTIVE } = WebhookSubscriptionState;
const { SUCCEEDED } = DeliveryStatus;
/** A process bundles the workflow code first: seconds alone, far more beside other tests. */
const START_MS = 90_000;
/** A batch that died with its worker is handed out again after a minute. */
const LEASE_AND_MORE_MS = 90_000;

let temporal: TestTemporal;

beforeAll(async () => {
  temporal = await startTemporal();
}, TEMPORAL_START_MS);

afterAll(() => temporal?.[Symbol.asyncDispose]());

/** Publishes one event after another until `stop`, which returns the ids of those that were committed. */
function publishOn(merchant: SandboxMerchant) {
  const committed: string[] = [];
  let stopped = false;
  const running = (async () => {
    while (!stopped) {
      // A failed call committed nothing, or its response was lost.
      await merchant.publish().then(
        (id) => committed.push(id),
        () => delay(50),
      );
      await delay(5);
    }
  })();
  return {
    /** Resolves once so many events are committed. */
    atLeast: (count: number) =>
      vi.waitFor(() => expect(committed.length).toBeGreaterThanOrEqual(count), 30_000),
    async stop() {
      stopped = true;
      await running;
      return committed;
    },
  };
}

describe('nothing that was committed is lost', () => {
  it('when Temporal is killed while events are published, and comes back', async () => {
    await using receiver = await startReceiver();
    const harness = await startHarness(loopbackSettings());
    const worker = await startHarnessWorker(harness, temporal);
    try {
      const merchant = await SandboxMerchant.subscribe(harness.transports.grpc, receiver);
      await merchant.becomes(ACTIVE);
      const publishing = publishOn(merchant);
      await publishing.atLeast(30);
      await temporal.kill();
      await delay(2_000);
      await temporal.start();
      await delay(500);
      const committed = await publishing.stop();
      expect(committed.length).toBeGreaterThan(50);
      await merchant.received(committed, LEASE_AND_MORE_MS);
    } finally {
      await worker.close();
      await harness.close();
    }
  }, 240_000);

  it('when the whole process is killed and started again', async () => {
    await using receiver = await startReceiver();
    const port = await findFreePort();
    const token = `mps_${randomBytes(24).toString('base64url')}`;
    const key = () => `v1:${randomBytes(32).toString('base64')}`;
    const settings = {
      ...{ ...loopbackSettings(), DATABASE_URL: await createTestDatabase(), LOG_LEVEL: 'error' },
      ...{ TEMPORAL_ADDRESS: temporal.address, GRPC_PORT: `${port}` },
      ...{ API_KEY_PEPPERS: key(), WEBHOOK_SECRET_KEYS: key(), CURSOR_KEYS: key() },
      SERVICE_TOKENS: `test|${createHash('sha256').update(token).digest('hex')}|${ALL_GRANTS.join(' ')}`,
    };
    const baseUrl = `http://127.0.0.1:${port}`;
    const transport = createGrpcTransport({ baseUrl, interceptors: [bearer(token)] });
    const isUp = () =>
      vi.waitFor(
        () => createClient(EventService, transport).listEventTypes({}, { timeoutMs: 1_000 }),
        START_MS,
      );

    await using first = startProgram('test/journeys/whole-process.ts', settings);
    await isUp();
    const merchant = await SandboxMerchant.subscribe(transport, receiver);
    await merchant.becomes(ACTIVE);
    const publishing = publishOn(merchant);
    await publishing.atLeast(20);
    await first.kill();
    const committed = await publishing.stop();
    await using second = startProgram('test/journeys/whole-process.ts', settings);
    await isUp();
    await merchant.received(committed, LEASE_AND_MORE_MS);
    expect(second.errors).toBe('');
  }, 240_000);

  it('when a worker is killed between sending and reporting: the event is sent twice', async () => {
    const harness = await startHarness(loopbackSettings());
    const settings = {
      ...{ ...loopbackSettings(), SERVICES_URL: harness.baseUrl, SERVICE_TOKEN: harness.token },
      ...{ TEMPORAL_ADDRESS: temporal.address, LOG_LEVEL: 'error', OPS_PORT: '0' },
    };
    const started = () => startProgram('workflows/main.ts', settings);
    let worker = started();
    let silent = false;
    await using receiver = await startReceiver((_request, response) => {
      if (!silent) response.writeHead(204).end();
    });
    try {
      const merchant = await SandboxMerchant.subscribe(harness.transports.grpc, receiver);
      await merchant.becomes(ACTIVE, START_MS);
      silent = true;
      const eventId = await merchant.publish();
      await merchant.received([eventId]);
      await worker.kill();
      silent = false;
      worker = started();
      await merchant.delivery(eventId, SUCCEEDED, LEASE_AND_MORE_MS);
      expect(merchant.arrivals.map(({ id }) => id)).toEqual([eventId, eventId]);
    } finally {
      await worker.kill();
      await harness.close();
    }
  }, 240_000);
});
