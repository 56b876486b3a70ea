import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import pg from 'pg';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { WorkflowCommandKind } from '../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import {
  AttemptFailure,
  DeliveryStatus,
  SubscriptionErrorCause,
  WebhookSubscriptionState,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { timestampOf } from '../../../services/platform/timestamps.ts';
import {
  createTestDatabase,
  emptyDatabase,
  newKey,
  newTenant,
  startHarness,
  type TestHarness,
} from '../../support/harness.ts';
import {
  type AttemptReportInit,
  answered,
  PAYMENT,
  type TestTenant,
  type WebhooksFixture,
  webhooksFixture,
} from './webhooks-fixture.ts';

let databaseUrl: string;
let harness: TestHarness;
let fixture: WebhooksFixture;
beforeAll(async () => {
  databaseUrl = await createTestDatabase();
});
beforeEach(async () => {
  await emptyDatabase(databaseUrl);
  harness = await startHarness({ SERVICES: 'webhooks' }, undefined, databaseUrl);
  fixture = webhooksFixture(harness, harness.transports.inProcess);
});
afterEach(() => harness.close());

/** A subscription whose ping was answered: ACTIVE, with nothing waiting. */
async function activeSubscription(tenant: TestTenant) {
  const subscription = await fixture.subscribe(tenant);
  const [key] = await fixture.claimKeys();
  await fixture.report(answered(key!.deliveryId, await fixture.send(key!), 200));
  return subscription;
}

const stateOf = async (tenant: TestTenant, subscriptionId: string) =>
  (await fixture.subscriptions.getWebhookSubscription({ ...tenant, subscriptionId })).subscription!;

const deliveryOf = (tenant: TestTenant, deliveryId: string) =>
  fixture.deliveries.getDelivery({ ...tenant, deliveryId });

/** Publishes an event and has its first attempt answered with this status; answers the delivery's id. */
async function failFirst(tenant: TestTenant, status = 500) {
  await fixture.publish(tenant);
  const [key] = await fixture.claimKeys();
  const [outcome] = await fixture.report(answered(key!.deliveryId, await fixture.send(key!), status));
  return { deliveryId: key!.deliveryId, outcome: outcome! };
}

/** Lets the time of a delivery's next attempt come, and forgets that one is under way. */
const due = (deliveryId: string) =>
  fixture.sql(
    `update webhooks.open_delivery set next_attempt_at = now() - interval '1 ms', in_flight_since = null, in_flight_until = null
      where id = $1`,
    [deliveryId],
  );

describe('DispatchService', () => {
  it('pings a new subscription, and the first 2xx makes it ACTIVE', async () => {
    const tenant = newTenant();
    const subscription = await fixture.subscribe(tenant);
    const { batches } = await fixture.claim();
    expect(batches).toMatchObject([
      {
        environment: Environment.LIVE,
        merchantIds: [tenant.merchantId],
        subscriptionIds: [subscription.id],
        eventType: 'webhook.ping.v1',
      },
    ]);
    const key = { deliveryId: batches[0]!.deliveryIds[0]!, batchId: batches[0]!.id };
    const send = await fixture.send(key);
    expect(send).toMatchObject({ attemptNumber: 1, subscriptionId: subscription.id, url: subscription.url });
    const { signingSecret } = await fixture.subscriptions.revealSigningSecret({
      ...tenant,
      subscriptionId: subscription.id,
      idempotencyKey: newKey(),
    });
    expect(send.signingSecrets).toEqual([signingSecret]);
    const body = JSON.parse(new TextDecoder().decode(send.body));
    expect(body).toMatchObject({
      id: send.eventId,
      type: 'webhook.ping.v1',
      environment: 'live',
      sequence: 1,
      data: { subscriptionId: subscription.id },
    });
    const outcomes = await fixture.report(answered(key.deliveryId, send, 204));
    expect(outcomes).toMatchObject([{ deliveryId: key.deliveryId, status: DeliveryStatus.SUCCEEDED }]);
    expect((await stateOf(tenant, subscription.id)).state).toBe(WebhookSubscriptionState.ACTIVE);
  });

  it('sends every attempt with the same body: id, type, timestamp, environment, requestId, sequence, data', async () => {
    const tenant = newTenant();
    await activeSubscription(tenant);
    await fixture.subscribe(tenant);
    await fixture.claimKeys();
    const objectId = randomUUID();
    await fixture.publish(tenant, objectId);
    const event = await fixture.publish(tenant, objectId, 'req "1"');
    const keys = await fixture.claimKeys();
    expect(keys).toHaveLength(4);
    const bodies = new Map<string, string[]>();
    for (const key of keys) {
      const { eventId, body } = await fixture.send(key);
      bodies.set(eventId, [...(bodies.get(eventId) ?? []), new TextDecoder().decode(body)]);
    }
    const [body, other] = bodies.get(event.id)!;
    expect(body).toBe(other);
    expect(body).toBe(
      JSON.stringify({
        id: event.id,
        type: 'payment.succeeded.v1',
        timestamp: timestampDate(event.timestamp!).toISOString(),
        environment: 'live',
        requestId: 'req "1"',
        sequence: 2,
        data: JSON.parse(body!).data,
      }),
    );
    expect(JSON.parse(body!).data).toEqual(PAYMENT);
  });

  it('delivers to older subscriptions to the type, of the merchant and environment', async () => {
    const tenant = newTenant();
    const matching = await activeSubscription(tenant);
    await fixture.subscribe(tenant, ['refund.failed.v1']);
    await fixture.subscribe({ ...tenant, environment: Environment.TEST });
    await fixture.subscribe(newTenant());
    const disabled = await fixture.subscribe(tenant);
    await fixture.claimKeys();
    await fixture.subscriptions.disableWebhookSubscription({
      ...tenant,
      subscriptionId: disabled.id,
      idempotencyKey: newKey(),
    });
    const event = await fixture.publish(tenant);
    await delay(5);
    const younger = await fixture.subscribe(tenant);
    await fixture.claimKeys();
    const { deliveries } = await fixture.deliveries.listDeliveries({ ...tenant, eventId: event.id });
    expect(deliveries.map(({ subscriptionId }) => subscriptionId)).toEqual([matching.id]);
    const pings = await fixture.deliveries.listDeliveries({ ...tenant, subscriptionId: younger.id });
    expect(pings.deliveries.map(({ eventType }) => eventType)).toEqual(['webhook.ping.v1']);
  });

  it('delivers nothing from the time a subscription was disabled, even if dispatched late', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await activeSubscription(tenant);
    const key = () => ({ ...tenant, subscriptionId, idempotencyKey: newKey() });
    await fixture.subscriptions.disableWebhookSubscription(key());
    const missed = await fixture.publish(tenant);
    await delay(5);
    await fixture.subscriptions.reactivateWebhookSubscription(key());
    const { batches } = await fixture.claim();
    expect(batches.map(({ eventType }) => eventType)).toEqual(['webhook.ping.v1']);
    const { deliveries } = await fixture.deliveries.listDeliveries({ ...tenant, eventId: missed.id });
    expect(deliveries).toEqual([]);
    const found = await fixture.events.getEvent({ ...tenant, eventId: missed.id });
    expect(found.event?.id).toBe(missed.id);
  });

  it('returns to a waiting worker as soon as something is committed', async () => {
    const tenant = newTenant();
    await activeSubscription(tenant);
    const waiting = fixture.claim(100, 10_000);
    await delay(100);
    const startedAt = performance.now();
    await fixture.publish(tenant);
    const { batches } = await waiting;
    expect(batches).toHaveLength(1);
    expect(performance.now() - startedAt).toBeLessThan(700);
  });

  it('works through a backlog of events without subscribers without a pause', async () => {
    const [backlog, tenant] = [newTenant(), newTenant()];
    await fixture.sql(
      `insert into platform.outbox_event
         (merchant_id, environment, id, type, object_id, sequence, request_id, occurred_at, data)
       select $1, 'live', uuidv7(), 'payment.succeeded.v1', 'o', n, 'r', now(), '{}'
         from generate_series(1, 2000) n`,
      [backlog.merchantId],
    );
    await activeSubscription(tenant);
    const event = await fixture.publish(tenant);
    const { batches } = await fixture.claim(100, 2_000);
    const { deliveries } = await fixture.deliveries.listDeliveries({ ...tenant, eventId: event.id });
    expect(batches.flatMap(({ deliveryIds }) => deliveryIds)).toEqual(deliveries.map(({ id }) => id));
  });

  it('returns an empty response when the time is up', async () => {
    const startedAt = performance.now();
    const { batches, retries } = await fixture.claim(100, 300);
    expect([batches, retries]).toEqual([[], []]);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(299);
  });

  it('sends a delivery of the batch, repeatedly until it is reported, and never after', async () => {
    const tenant = newTenant();
    await activeSubscription(tenant);
    await fixture.publish(tenant);
    const [key] = await fixture.claimKeys();
    const first = await fixture.send(key!);
    expect(await fixture.send(key!)).toEqual(first);
    const skipped = { case: 'skip', value: { status: DeliveryStatus.PENDING } };
    expect(await fixture.ask([{ ...key!, batchId: randomUUID() }])).toMatchObject([skipped]);
    const [other] = await fixture.ask([{ deliveryId: key!.deliveryId }]);
    expect(other).toMatchObject({ case: 'skip', value: { status: DeliveryStatus.HELD } });
    await fixture.report(answered(key!.deliveryId, first, 200));
    const done = { case: 'skip', value: { status: DeliveryStatus.SUCCEEDED } };
    expect(await fixture.ask([key!, { deliveryId: key!.deliveryId }])).toMatchObject([done, done]);
    const [unknown] = await fixture.ask([{ deliveryId: randomUUID() }]);
    expect(unknown).toMatchObject({ case: 'skip', value: { status: DeliveryStatus.CANCELED } });
  });

  it('records a report once, however often and concurrently it arrives', async () => {
    const tenant = newTenant();
    await activeSubscription(tenant);
    await fixture.publish(tenant);
    const [key] = await fixture.claimKeys();
    const report = answered(key!.deliveryId, await fixture.send(key!), 500);
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => fixture.report(report)));
    for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0]);
    const { delivery, attempts } = await deliveryOf(tenant, key!.deliveryId);
    expect(delivery).toMatchObject({ status: DeliveryStatus.RETRYING, attemptCount: 1 });
    expect(attempts).toHaveLength(1);
    const later = answered(key!.deliveryId, { attemptNumber: 1, generation: 1n }, 200);
    expect(await fixture.report(later)).toEqual(outcomes[0]);
    const ahead = answered(key!.deliveryId, { attemptNumber: 3, generation: 1n }, 200);
    expect(await fixture.report(ahead)).toEqual(outcomes[0]);
  });

  it('lets one of two contradicting reports of an attempt win as a whole', async () => {
    const tenant = newTenant();
    await activeSubscription(tenant);
    await fixture.publish(tenant);
    const [key] = await fixture.claimKeys();
    const { deliveryId } = key!;
    const send = await fixture.send(key!);
    const locking = new pg.Client({ connectionString: harness.databaseUrl });
    await locking.connect();
    await locking.query('begin');
    await locking.query('select from webhooks.open_delivery where id = $1 for update', [deliveryId]);
    const areWaiting = (count: number) =>
      vi.waitFor(
        async () => {
          const waiting = await fixture.sql(
            `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          );
          expect(waiting).toHaveLength(count);
        },
        { timeout: 40_000 },
      );
    const failure = fixture.report(answered(deliveryId, send, 500));
    await areWaiting(1);
    const success = fixture.report(answered(deliveryId, send, 200));
    await areWaiting(2);
    await locking.query('commit');
    await locking.end();
    expect(await success).toEqual(await failure);
    const { delivery, attempts } = await deliveryOf(tenant, deliveryId);
    expect(delivery!.status).toBe(DeliveryStatus.RETRYING);
    expect(attempts).toMatchObject([{ number: 1, httpStatus: 500 }]);
  });

  it('never claims a delivery twice in concurrent calls', async () => {
    // Few for each: on a busy machine, claimed attempts soon count as slow, and a subscription may have ten of those.
    const tenants = Array.from({ length: 8 }, () => newTenant());
    for (const tenant of tenants) await activeSubscription(tenant);
    for (const tenant of [...tenants, ...tenants, ...tenants, ...tenants, ...tenants])
      await fixture.publish(tenant);
    const claims = await Promise.all(Array.from({ length: 8 }, () => fixture.claim(10)));
    const ids = claims.flatMap(({ batches }) => batches.flatMap(({ deliveryIds }) => deliveryIds));
    const rest = await fixture.claim();
    const all = [...ids, ...rest.batches.flatMap(({ deliveryIds }) => deliveryIds)];
    expect(new Set(all).size).toBe(all.length);
    expect(all).toHaveLength(40);
  });

  it('retries by the schedule with jitter, and by Retry-After if that is later', async () => {
    const tenant = newTenant();
    await activeSubscription(tenant);
    await fixture.publish(tenant);
    const [key] = await fixture.claimKeys();
    const first = await fixture.send(key!);
    const report = answered(key!.deliveryId, first, 500);
    const [outcome] = await fixture.report(report);
    expect(outcome).toMatchObject({
      status: DeliveryStatus.RETRYING,
      retry: { ...tenant, deliveryId: key!.deliveryId, eventType: 'payment.succeeded.v1' },
    });
    const waitMs = timestampDate(outcome!.nextAttemptAt!).getTime() - Date.now();
    expect(waitMs).toBeGreaterThan(3_500);
    expect(waitMs).toBeLessThan(6_100);
    const retry = { deliveryId: key!.deliveryId };
    const [notNow] = await fixture.ask([retry]);
    if (notNow?.case !== 'notNow') throw new Error(`answered ${notNow?.case}`);
    expect(notNow.value.delayMs).toBeGreaterThan(3_000);
    await due(retry.deliveryId);
    const second = await fixture.send(retry);
    expect(second).toEqual({ ...first, attemptNumber: 2 });
    const [asked] = await fixture.report({
      ...answered(retry.deliveryId, second, 503),
      retryAfterMs: 7_200_000n,
    });
    const askedMs = timestampDate(asked!.nextAttemptAt!).getTime() - Date.now();
    expect(askedMs).toBeGreaterThan(7_190_000);
    expect(askedMs).toBeLessThan(7_201_000);
  });

  it('sends a retry once while it is in flight, and again when its worker is lost', async () => {
    const tenant = newTenant();
    await activeSubscription(tenant);
    const { deliveryId } = await failFirst(tenant);
    await due(deliveryId);
    const answers = await Promise.all(Array.from({ length: 5 }, () => fixture.ask([{ deliveryId }])));
    expect(answers.flat().filter((answer) => answer.case === 'send')).toHaveLength(1);
    await fixture.sql(`update webhooks.open_delivery set in_flight_until = now() where id = $1`, [
      deliveryId,
    ]);
    expect((await fixture.send({ deliveryId })).attemptNumber).toBe(2);
  });

  it('puts a subscription in ERROR when a delivery is exhausted, and makes it ACTIVE on the next 2xx', async () => {
    const tenant = newTenant(Environment.TEST);
    const { id } = await activeSubscription(tenant);
    const { deliveryId } = await failFirst(tenant);
    for (const number of [2, 3, 4]) {
      await due(deliveryId);
      const send = await fixture.send({ deliveryId });
      expect(send.attemptNumber).toBe(number);
      const [outcome] = await fixture.report({
        deliveryId,
        attemptNumber: number,
        generation: send.generation,
        startedAt: timestampOf(new Date()),
        failure: AttemptFailure.CONNECTION_REFUSED,
      });
      expect(outcome!.status).toBe(number < 4 ? DeliveryStatus.RETRYING : DeliveryStatus.EXHAUSTED);
    }
    const failed = await stateOf(tenant, id);
    expect(failed.state).toBe(WebhookSubscriptionState.ERROR);
    const { delivery, attempts } = await deliveryOf(tenant, deliveryId);
    expect(failed.error).toMatchObject({
      cause: SubscriptionErrorCause.DELIVERY_EXHAUSTED,
      attempts: 4,
      failure: AttemptFailure.CONNECTION_REFUSED,
      deliveryId,
      eventId: delivery!.eventId,
    });
    expect(failed.error!.since).toBeDefined();
    expect(delivery).toMatchObject({ status: DeliveryStatus.EXHAUSTED, attemptCount: 4 });
    expect(delivery!.endedAt).toBeDefined();
    expect(attempts.map(({ number, httpStatus, failure }) => [number, httpStatus, failure])).toEqual([
      [1, 500, undefined],
      [2, undefined, AttemptFailure.CONNECTION_REFUSED],
      [3, undefined, AttemptFailure.CONNECTION_REFUSED],
      [4, undefined, AttemptFailure.CONNECTION_REFUSED],
    ]);
    await fixture.publish(tenant);
    const [key] = await fixture.claimKeys();
    await fixture.report(answered(key!.deliveryId, await fixture.send(key!), 200));
    const healthy = await stateOf(tenant, id);
    expect(healthy).toMatchObject({ state: WebhookSubscriptionState.ACTIVE });
    expect(healthy.error).toBeUndefined();
  });

  it('disables on 410: nothing stays open, and the reason is kept', async () => {
    const tenant = newTenant();
    const { id } = await activeSubscription(tenant);
    const retrying = await failFirst(tenant);
    const waiting = await fixture.publish(tenant);
    await fixture.claim(1);
    const { outcome, deliveryId } = await failFirst(tenant, 410);
    expect(outcome.status).toBe(DeliveryStatus.CANCELED);
    const disabled = await stateOf(tenant, id);
    expect(disabled.state).toBe(WebhookSubscriptionState.DISABLED);
    expect(disabled.error).toMatchObject({
      cause: SubscriptionErrorCause.GONE,
      httpStatus: 410,
      since: disabled.disabledAt,
      deliveryId,
    });
    const { deliveries } = await fixture.deliveries.listDeliveries({ ...tenant, eventId: waiting.id });
    expect(deliveries).toMatchObject([{ status: DeliveryStatus.CANCELED }]);
    expect((await deliveryOf(tenant, deliveryId)).attempts).toMatchObject([{ httpStatus: 410 }]);
    const commands = await fixture.claimCommands();
    expect(commands).toMatchObject([
      { kind: WorkflowCommandKind.START, workflowId: `notice-WEBHOOK_GONE-${id}`, ...tenant },
      { kind: WorkflowCommandKind.CANCEL, workflowId: `delivery-${retrying.deliveryId}`, ...tenant },
    ]);
  });

  it('stops at once when it is disabled: open deliveries are canceled, late outcomes have no effect', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await activeSubscription(tenant);
    const retrying = await failFirst(tenant);
    await due(retrying.deliveryId);
    const underWay = await fixture.send({ deliveryId: retrying.deliveryId });
    await fixture.publish(tenant);
    const [claimed] = await fixture.claimKeys();
    const send = await fixture.send(claimed!);
    await fixture.subscriptions.disableWebhookSubscription({
      ...tenant,
      subscriptionId,
      idempotencyKey: newKey(),
    });
    const skipped = { case: 'skip', value: { status: DeliveryStatus.CANCELED } };
    expect(await fixture.ask([claimed!, { deliveryId: retrying.deliveryId }])).toMatchObject([
      skipped,
      skipped,
    ]);
    const outcomes = await fixture.report(
      answered(claimed!.deliveryId, send, 200),
      answered(retrying.deliveryId, underWay, 410),
    );
    expect(outcomes.map(({ status }) => status)).toEqual([DeliveryStatus.CANCELED, DeliveryStatus.CANCELED]);
    expect((await stateOf(tenant, subscriptionId)).state).toBe(WebhookSubscriptionState.DISABLED);
    expect((await deliveryOf(tenant, claimed!.deliveryId)).attempts).toMatchObject([{ httpStatus: 200 }]);
    const commands = await fixture.claimCommands();
    expect(commands.map(({ workflowId }) => workflowId)).toEqual([`delivery-${retrying.deliveryId}`]);
  });

  it('ignores outcomes from before a reactivation', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await activeSubscription(tenant);
    await fixture.publish(tenant);
    const [key] = await fixture.claimKeys();
    const send = await fixture.send(key!);
    const write = () => ({ ...tenant, subscriptionId, idempotencyKey: newKey() });
    await fixture.subscriptions.disableWebhookSubscription(write());
    await fixture.subscriptions.reactivateWebhookSubscription(write());
    await fixture.report(answered(key!.deliveryId, send, 200));
    expect((await stateOf(tenant, subscriptionId)).state).toBe(WebhookSubscriptionState.PENDING);
    const [ping] = await fixture.claimKeys();
    const pinged = await fixture.send(ping!);
    expect(pinged.generation).toBe(send.generation + 1n);
    await fixture.report(answered(ping!.deliveryId, pinged, 200));
    expect((await stateOf(tenant, subscriptionId)).state).toBe(WebhookSubscriptionState.ACTIVE);
  });

  it('accepts an attempt that is still running: it is not sent again, and its outcome counts', async () => {
    const tenant = newTenant();
    await activeSubscription(tenant);
    await fixture.publish(tenant);
    const [key] = await fixture.claimKeys();
    const { deliveryId } = key!;
    const { attemptNumber, generation } = await fixture.send(key!);
    const deadlineAt = new Date(Date.now() + 15_000);
    const running: AttemptReportInit = {
      ...{ deliveryId, attemptNumber, generation, stillRunning: true },
      startedAt: timestampOf(new Date()),
      deadlineAt: timestampOf(deadlineAt),
    };
    const [outcome] = await fixture.report(running);
    expect(outcome).toMatchObject({ status: DeliveryStatus.RETRYING, retry: { deliveryId } });
    expect(timestampDate(outcome!.nextAttemptAt!).getTime()).toBe(deadlineAt.getTime() + 5_000);
    expect(await fixture.report(running)).toEqual([outcome]);
    const [skipped, notNow] = await fixture.ask([key!, { deliveryId }]);
    expect(skipped).toMatchObject({
      case: 'skip',
      value: { status: DeliveryStatus.RETRYING, retry: { deliveryId } },
    });
    expect(notNow?.case).toBe('notNow');
    const [done] = await fixture.report(answered(deliveryId, { attemptNumber, generation }, 200));
    expect(done).toMatchObject({ status: DeliveryStatus.SUCCEEDED });
    const { attempts } = await deliveryOf(tenant, deliveryId);
    expect(attempts).toMatchObject([{ number: 1, httpStatus: 200, latencyMs: 12 }]);
  });

  it.each(['GetAttempt', 'ClaimBatch'])(
    'closes an unreported attempt as WORKER_LOST by %s, and continues',
    async (rpc) => {
      const tenant = newTenant();
      await activeSubscription(tenant);
      await fixture.publish(tenant);
      const [key] = await fixture.claimKeys();
      const { deliveryId } = key!;
      const { attemptNumber, generation } = await fixture.send(key!);
      const startedAt = new Date(Date.now() - 20_100);
      const deadlineAt = new Date(startedAt.getTime() + 15_000);
      await fixture.report({
        ...{ deliveryId, attemptNumber, generation, stillRunning: true },
        startedAt: timestampOf(startedAt),
        deadlineAt: timestampOf(deadlineAt),
      });
      if (rpc === 'GetAttempt') await fixture.ask([{ deliveryId }]);
      else await fixture.claim(1, 1_500);
      const { delivery, attempts } = await deliveryOf(tenant, deliveryId);
      expect(attempts).toMatchObject([{ number: 1, failure: AttemptFailure.WORKER_LOST }]);
      expect(attempts[0]!.endedAt).toEqual(timestampOf(deadlineAt));
      expect(delivery).toMatchObject({ status: DeliveryStatus.RETRYING, attemptCount: 1 });
      await due(deliveryId);
      expect((await fixture.send({ deliveryId })).attemptNumber).toBe(2);
      const late = answered(deliveryId, { attemptNumber, generation }, 200);
      expect(await fixture.report(late)).toMatchObject([{ status: DeliveryStatus.RETRYING }]);
    },
  );

  it('hands a batch out again under its id when its lease has expired with open deliveries', async () => {
    const tenant = newTenant();
    await activeSubscription(tenant);
    await fixture.publish(tenant);
    await fixture.publish(tenant);
    const [reported, lost] = await fixture.claimKeys();
    await fixture.report(answered(reported!.deliveryId, await fixture.send(reported!), 200));
    const expire = () => fixture.sql(`update webhooks.batch set leased_until = now() - interval '1 s'`);
    expect((await fixture.claim()).batches).toEqual([]);
    await expire();
    const { batches } = await fixture.claim(100, 2_000);
    expect(batches).toMatchObject([{ id: lost!.batchId, deliveryIds: [lost!.deliveryId] }]);
    await fixture.report(answered(lost!.deliveryId, await fixture.send(lost!), 200));
    await expire();
    expect((await fixture.claim(100, 1_300)).batches).toEqual([]);
    expect(await fixture.sql('select id from webhooks.batch')).toEqual([]);
  });

  it('claims into batches that are being filled, whose deliveries are requeued together', async () => {
    const [live, test] = [newTenant(Environment.LIVE), newTenant(Environment.TEST)];
    for (const tenant of [live, test]) await activeSubscription(tenant);
    const batchIds = { live: randomUUID(), test: randomUUID() };
    const filled = new Map<string, string[]>();
    for (const tenant of [live, test, live]) {
      await fixture.publish(tenant);
      const { batches } = await fixture.dispatch.claimBatch({ waitMs: 0, maxDeliveries: 10, batchIds });
      const { id, deliveryIds, merchantIds } = batches[0]!;
      expect(batches).toHaveLength(1);
      expect(merchantIds).toEqual([tenant.merchantId]);
      filled.set(id, [...(filled.get(id) ?? []), ...deliveryIds]);
    }
    expect([...filled].map(([id, { length }]) => [id, length])).toEqual([
      [batchIds.live, 2],
      [batchIds.test, 1],
    ]);
    await fixture.sql(`update webhooks.batch set leased_until = now() - interval '1 s'`);
    const { batches } = await fixture.claim(100, 5_000);
    expect(new Map(batches.map(({ id, deliveryIds }) => [id, deliveryIds]))).toEqual(filled);
  });

  it('requeues a retry when it is two minutes overdue, but not again at once', async () => {
    const tenant = newTenant();
    await activeSubscription(tenant);
    const { deliveryId, outcome } = await failFirst(tenant);
    const overdue = (interval: string) =>
      fixture.sql(
        `update webhooks.open_delivery set next_attempt_at = now() - $2::interval,
           requeued_at = requeued_at - $2::interval where id = $1`,
        [deliveryId, interval],
      );
    await overdue('1 minute 50 s');
    expect((await fixture.claim(100, 1_300)).retries).toEqual([]);
    await overdue('2 minutes 1 s');
    expect((await fixture.claim(100, 2_000)).retries).toEqual([outcome.retry]);
    expect((await fixture.claim(100, 1_300)).retries).toEqual([]);
    await overdue('2 minutes 1 s');
    expect((await fixture.claim(100, 2_000)).retries).toEqual([outcome.retry]);
  });

  it('decrypts secrets for their own subscription only; a failure affects no other subscription', async () => {
    const tenant = newTenant();
    const swapped = await fixture.subscribe(tenant);
    const sound = await fixture.subscribe(tenant);
    await fixture.sql(
      `update webhooks.signing_secret set sealed =
         (select sealed from webhooks.signing_secret where subscription_id = $2)
        where subscription_id = $1`,
      [swapped.id, sound.id],
    );
    const keys = await fixture.claimKeys();
    const answers = await fixture.ask(keys);
    expect(answers.map((answer) => answer.case).sort()).toEqual(['notNow', 'send']);
  });
});
