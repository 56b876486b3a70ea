import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findFreePort } from '../../local/ports.ts';
import { EventService, WebhookSubscriptionState } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { ALL_GRANTS, bearer, createTestDatabase } from '../support/harness.ts';
import { loopbackSettings } from '../support/loopback-settings.ts';
import { TEMPORAL_START_MS, type TestNamespace } from '../support/temporal.ts';
import { createTestNamespace, testWorkflowBundles } from '../support/temporal-namespace.ts';
import { startReceiver } from '../support/tls-receiver.ts';
import { startProgram } from './child-program.ts';
import { LaneOwners } from './lane-owners.ts';
import { SandboxMerchant } from './sandbox-merchant.ts';

const { ACTIVE } = WebhookSubscriptionState;
/** Seconds alone, far more beside other tests. */
const START_MS = 90_000;
/** The lease of lanes lasts four seconds; a busy machine takes as long again. */
const TAKEN_OVER_MS = 8_000;
const PAUSE_MS = 8_000;
/** Until a signal takes effect. */
const SIGNAL_MS = 100;

describe('two processes that send webhooks', { timeout: 180_000 }, () => {
  let owners: LaneOwners;
  beforeAll(async () => {
    owners = await LaneOwners.start();
  });
  afterAll(() => owners?.[Symbol.asyncDispose]());

  it('continue after one was paused past its lease, and repeat only attempts in flight', async () => {
    const publishing = owners.publish();
    await publishing.atLeast(20);
    owners.first.signal('SIGSTOP');
    const pausedAt = Date.now();
    await delay(PAUSE_MS);
    owners.first.signal('SIGCONT');
    await publishing.atLeast(publishing.count + 20);
    await owners.areSharing();
    const published = await publishing.stop();
    const { slowestMs, repeated } = await owners.delivered(published, pausedAt);
    expect(slowestMs).toBeLessThan(TAKEN_OVER_MS);
    for (const { firstAt, secondAt } of repeated) {
      expect(firstAt).toBeLessThanOrEqual(pausedAt + SIGNAL_MS);
      // The other process sent it when it took over; the paused one repeats nothing.
      expect(secondAt).toBeLessThan(pausedAt + PAUSE_MS);
    }
  });

  it('lose nothing and repeat nothing when one is stopped', async () => {
    const publishing = owners.publish();
    await publishing.atLeast(20);
    owners.first.signal('SIGTERM');
    expect(await owners.first.ended(30_000)).toBe(0);
    await publishing.atLeast(publishing.count + 10);
    const { slowestMs, repeated } = await owners.delivered(await publishing.stop());
    expect(repeated).toEqual([]);
    // Nothing waited for a lease.
    expect(slowestMs).toBeLessThan(3_000);
  });

  it('lose nothing when one is killed, and repeat only attempts in flight', async () => {
    owners.startFirst();
    await owners.areSharing();
    const publishing = owners.publish();
    await publishing.atLeast(20);
    const killedAt = Date.now();
    await owners.first.kill();
    await publishing.atLeast(publishing.count + 20);
    const { slowestMs, repeated } = await owners.delivered(await publishing.stop(), killedAt);
    expect(slowestMs).toBeLessThan(TAKEN_OVER_MS);
    for (const { firstAt } of repeated) expect(firstAt).toBeLessThanOrEqual(killedAt + SIGNAL_MS);
  });

  it('send an event again when both die before its receiver responds', async () => {
    owners.onEvent = () => {
      for (const owner of [owners.first, owners.second]) owner.signal('SIGKILL');
    };
    const publishing = owners.publish();
    await publishing.atLeast(1);
    expect(await owners.second.ended(30_000)).toBe('SIGKILL');
    owners.onEvent = undefined;
    const published = await publishing.stop();
    owners.startFirst();
    await vi.waitFor(
      async () => expect((await owners.delivered(published)).repeated.length).toBeGreaterThan(0),
      { timeout: 60_000, interval: 200 },
    );
  });
});

describe('the whole system in one process', () => {
  let temporal: TestNamespace;
  beforeAll(async () => {
    temporal = await createTestNamespace();
  }, TEMPORAL_START_MS);
  afterAll(() => temporal?.[Symbol.asyncDispose]());

  it('loses nothing that was committed when it is killed and started again', async () => {
    await using receiver = await startReceiver();
    const port = await findFreePort();
    const token = `mps_${randomBytes(24).toString('base64url')}`;
    const key = () => `v1:${randomBytes(32).toString('base64')}`;
    const settings = {
      ...loopbackSettings(),
      DATABASE_URL: await createTestDatabase(),
      LOG_LEVEL: 'error',
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      ...testWorkflowBundles(),
      API_KEY_PEPPERS: key(),
      WEBHOOK_SECRET_KEYS: key(),
      CURSOR_KEYS: key(),
      GRPC_PORT: `${port}`,
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
    const committed: string[] = [];
    while (committed.length < 20) committed.push(await merchant.publish());
    // Its response may be lost.
    const last = merchant.publish().then(
      (id) => committed.push(id),
      () => undefined,
    );
    await first.kill();
    await last;
    await using second = startProgram('test/journeys/whole-process.ts', settings);
    await isUp();
    await merchant.received(committed);
    expect(second.errors).toBe('');
  }, 240_000);
});
