import { setTimeout as delay } from 'node:timers/promises';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  DeliveryService,
  type Resend,
  ResendState,
  WebhookSubscriptionState,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { PaymentsWorker } from '../../workflows/worker.ts';
import { newKey, startHarness, type TestHarness } from '../support/harness.ts';
import { startHarnessWorker } from '../support/harness-worker.ts';
import { loopbackSettings } from '../support/loopback-settings.ts';
import { TEMPORAL_START_MS, type TestNamespace } from '../support/temporal.ts';
import { createTestNamespace } from '../support/temporal-namespace.ts';
import { type Receiver, startReceiver } from '../support/tls-receiver.ts';
import { SandboxMerchant } from './sandbox-merchant.ts';

const { RUNNING, COMPLETED, CANCELED } = ResendState;
const EVENTS = 2_000;

let temporal: TestNamespace;
let harness: TestHarness;
let worker: PaymentsWorker;

beforeAll(async () => {
  temporal = await createTestNamespace();
  harness = await startHarness(loopbackSettings());
  harness.services.startWebhookLanes();
  worker = await startHarnessWorker(harness, temporal);
}, TEMPORAL_START_MS);

afterAll(async () => {
  await worker?.close();
  await harness?.close();
  await temporal?.[Symbol.asyncDispose]();
});

/** Runs SQL that only a test would, to write a past and to let time pass. */
async function sql(text: string, values: unknown[]): Promise<void> {
  const client = new pg.Client({ connectionString: harness.databaseUrl });
  await client.connect();
  await client.query(text, values).finally(() => client.end());
}

/** A merchant that was pinged, with a history of events that its subscription missed; ids in the order of publishing. */
async function merchantWithPast(receiver: Receiver) {
  const merchant = await SandboxMerchant.subscribe(harness.transports.grpc, receiver);
  await merchant.becomes(WebhookSubscriptionState.ACTIVE);
  const from = Date.now() - 60_000;
  const ids = Array.from({ length: EVENTS }, (_, n) => uuidv7({ msecs: from + n }));
  await sql(
    `insert into webhooks.event (merchant_id, environment, id, type, object_id, sequence, request_id, occurred_at, body)
     select $1, 'test', id, 'payment.succeeded.v1', id::text, 1, 'r', now(),
            json_build_object('id', id, 'type', 'payment.succeeded.v1', 'data', json_build_object())::text
       from unnest($2::uuid[]) as id`,
    [merchant.tenant.merchantId, ids],
  );
  return { merchant, ids, period: { from: timestampFromMs(from), to: timestampFromMs(from + EVENTS) } };
}

type Past = Awaited<ReturnType<typeof merchantWithPast>>;

const deliveries = () => createClient(DeliveryService, harness.transports.grpc);

async function begin({ merchant, period }: Past) {
  const { resend } = await deliveries().resendDeliveries({
    ...merchant.tenant,
    idempotencyKey: newKey(),
    subscriptionId: merchant.subscriptionId,
    selection: { case: 'period', value: period },
  });
  return resend!;
}

const progress = async ({ merchant }: Past, resendId: string) =>
  (await deliveries().getResend({ ...merchant.tenant, resendId })).resend!;

const workflowOf = (resendId: string) => temporal.client.workflow.getHandle(`resend-${resendId}`);

const completes = (past: Past, resendId: string, watch?: (resend: Resend) => void) =>
  vi.waitFor(
    async () => {
      const resend = await progress(past, resendId);
      watch?.(resend);
      expect(resend.state).toBe(COMPLETED);
      return resend;
    },
    { timeout: 120_000, interval: 100 },
  );

const hasArrived = ({ merchant }: Past, least: number) =>
  vi.waitFor(() => expect(merchant.arrivals.length).toBeGreaterThanOrEqual(least), {
    timeout: 60_000,
    interval: 50,
  });

describe('a resend of two thousand events', () => {
  it('reports its progress, yields to a live event, and completes with each event delivered', async () => {
    await using receiver = await startReceiver();
    const past = await merchantWithPast(receiver);
    const { id, expectedCount } = await begin(past);
    expect(Number(expectedCount)).toBe(EVENTS);
    const made: number[] = [];
    const watched = completes(past, id, ({ madeCount }) => made.push(Number(madeCount)));
    await hasArrived(past, 300);
    const live = await past.merchant.publish();
    await past.merchant.received([live]);
    expect((await progress(past, id)).state).toBe(RUNNING);
    const done = await watched;
    const all = BigInt(EVENTS);
    expect(done).toMatchObject({ madeCount: all, succeededCount: all, openCount: 0n, canceledCount: 0n });
    expect(made).toEqual([...made].sort((a, b) => a - b));
    expect(new Set(made).size).toBeGreaterThan(5);
    const arrived = past.merchant.arrivals.map((arrival) => arrival.id);
    // Deliveries that were already in progress are at most those that a resend may have open.
    expect(arrived.indexOf(live)).toBeLessThan(EVENTS - 500);
    expect(new Set(arrived)).toEqual(new Set([...past.ids, live]));
    expect(await workflowOf(id).result()).toMatchObject({
      state: 'COMPLETED',
      made: EVENTS,
      succeeded: EVENTS,
    });
  }, 180_000);

  it('stops when it is canceled halfway', async () => {
    await using receiver = await startReceiver();
    const past = await merchantWithPast(receiver);
    const { id } = await begin(past);
    await hasArrived(past, 300);
    const key = { ...past.merchant.tenant, resendId: id, idempotencyKey: newKey() };
    const canceled = (await deliveries().cancelResend(key)).resend!;
    expect(canceled).toMatchObject({ state: CANCELED, openCount: 0n });
    expect(Number(canceled.madeCount)).toBeLessThan(EVENTS);
    await delay(1_000);
    const arrived = past.merchant.arrivals.length;
    expect(arrived).toBeLessThanOrEqual(Number(canceled.madeCount));
    await vi.waitFor(
      async () => expect((await workflowOf(id).describe()).status.name).toBe('CANCELLED'),
      10_000,
    );
    await delay(1_000);
    expect(past.merchant.arrivals).toHaveLength(arrived);
    expect(await progress(past, id)).toEqual(canceled);
  });

  it('continues when Temporal has lost its workflow', async () => {
    await using receiver = await startReceiver();
    const past = await merchantWithPast(receiver);
    const { id } = await begin(past);
    await hasArrived(past, 100);
    await workflowOf(id).terminate();
    // The step in progress does not know of it, and ends.
    await delay(4_000);
    expect((await progress(past, id)).state).toBe(RUNNING);
    await sql('update platform.outbox_command set due_at = now() where workflow_id = $1', [`resend-${id}`]);
    expect(await completes(past, id)).toMatchObject({
      madeCount: BigInt(EVENTS),
      succeededCount: BigInt(EVENTS),
    });
    const arrived = past.merchant.arrivals.map((arrival) => arrival.id);
    expect(new Set(arrived)).toEqual(new Set(past.ids));
  });
});
