import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { describe, expect, it, vi } from 'vitest';
import { WorkflowCommandKind } from '../../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import { DeliveryStatus } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { newTenant, newWrite, type TestTenant } from '../../../support/harness.ts';
import { lockWaits, openSession } from '../../../support/sql.ts';
import { answered, inFlight, startWebhooks } from '../attempts/attempts-fixture.ts';
import { newUrl } from '../webhooks-fixture.ts';

const { PENDING, RETRYING, HELD, BLOCKED, SUCCEEDED, CANCELED } = DeliveryStatus;
const { START, SIGNAL, CANCEL } = WorkflowCommandKind;

const { harness, fixture, attempts } = await startWebhooks();

const request = (tenant: TestTenant, deliveryId: string) => ({ ...newWrite(tenant), deliveryId });
const retry = async (tenant: TestTenant, deliveryId: string) =>
  (await fixture.deliveries.retryDelivery(request(tenant, deliveryId))).delivery!;
const cancel = async (tenant: TestTenant, deliveryId: string) =>
  (await fixture.deliveries.cancelDelivery(request(tenant, deliveryId))).delivery!;
const get = async (tenant: TestTenant, deliveryId: string) =>
  (await fixture.deliveries.getDelivery({ ...tenant, deliveryId })).delivery!;

/** The attempts that may be made now. */
const due = ({ merchantId }: TestTenant) => attempts.due(merchantId);

/** The first attempt of an event to a subscription whose ping was answered. */
async function queued(tenant: TestTenant) {
  await fixture.subscribe(tenant);
  await attempts.answerAll(200, tenant.merchantId);
  await fixture.publish(tenant);
  return (await due(tenant))[0]!;
}

/** A delivery whose first attempt was answered with this status. */
async function attempted(tenant: TestTenant, status: number) {
  const attempt = await queued(tenant);
  await attempts.record(answered(attempt, status));
  return attempt.deliveryId;
}

/** The next attempt of a delivery that is RETRYING. */
async function retried(tenant: TestTenant, deliveryId: string) {
  await retry(tenant, deliveryId);
  return (await due(tenant)).find((attempt) => attempt.deliveryId === deliveryId)!;
}

/** The commands about a merchant. */
const commandsOf = async (tenant: TestTenant) =>
  (await fixture.claimCommands()).filter(({ merchantId }) => merchantId === tenant.merchantId);

/** A delivery held like failing ones beyond the limit of retry workflows. */
async function held(tenant: TestTenant) {
  const deliveryId = await attempted(tenant, 500);
  await fixture.sql(`update webhooks.open_delivery set status = 'HELD' where id = $1`, [deliveryId]);
  await fixture.sql(
    `update webhooks.subscription set holding = true, probe_at = now() + interval '1 hour' where merchant_id = $1`,
    [tenant.merchantId],
  );
  return deliveryId;
}

/** Runs a command, which has changed the delivery when its message to the workflow is held up, and then a report. */
const commandThenReport = <A, B>(command: () => Promise<A>, report: () => Promise<B>) =>
  runInOrder(['lock table platform.outbox_command in share mode'], command, report);

/** Runs a report, which has locked the delivery when another transaction is inserting the same attempt, and then a command. */
const reportThenCommand = <A, B>(deliveryId: string, report: () => Promise<A>, command: () => Promise<B>) =>
  runInOrder(
    [
      `insert into webhooks.attempt (merchant_id, environment, delivery_id, number, generation, started_at, deadline_at)
       select merchant_id, environment, id, attempt_count + 1, 1, now(), now() from webhooks.open_delivery
        where id = $1`,
      [deliveryId],
    ],
    report,
    command,
  );

async function runInOrder<A, B>(
  lock: [sql: string, values?: string[]],
  first: () => Promise<A>,
  second: () => Promise<B>,
) {
  await using locking = await openSession(harness.databaseUrl);
  await locking.query('begin');
  await locking.query(...lock);
  const asked = first();
  await vi.waitUntil(async () => (await lockWaits(harness)).length > 0, { timeout: 10_000 });
  const settled = Promise.allSettled([asked, second()] as const);
  // A report does not wait for the delivery's lock, so nothing shows that it has been turned away.
  await delay(150);
  await locking.query('rollback');
  return settled;
}

const isDue = (delivery: { nextAttemptAt?: Parameters<typeof timestampDate>[0] }) =>
  timestampDate(delivery.nextAttemptAt!).getTime() <= Date.now();

describe('RetryDelivery', () => {
  it('makes the next attempt due now, and starts or signals its workflow', async () => {
    const tenant = newTenant();
    const deliveryId = await attempted(tenant, 500);
    expect(isDue(await get(tenant, deliveryId))).toBe(false);
    // Its start by the report.
    expect(await commandsOf(tenant)).toHaveLength(1);
    const delivery = await retry(tenant, deliveryId);
    expect(delivery).toMatchObject({ status: RETRYING, attemptCount: 1 });
    expect(isDue(delivery)).toBe(true);
    expect(delivery).toEqual(await get(tenant, deliveryId));
    const workflowId = `delivery-${deliveryId}`;
    const commands = await commandsOf(tenant);
    expect(commands).toMatchObject([
      { kind: START, workflowId, workflowType: 'retryDelivery' },
      { kind: SIGNAL, workflowId, signalName: 'recheck', argumentsJson: '[]' },
    ]);
    expect(JSON.parse(commands[0]!.argumentsJson)).toEqual([
      {
        deliveryId,
        merchantId: tenant.merchantId,
        environment: 'live',
        subscriptionId: delivery.subscriptionId,
        requestId: delivery.requestId,
        eventType: 'payment.succeeded.v1',
      },
    ]);
    expect(await due(tenant)).toMatchObject([{ deliveryId, number: 2 }]);
  });

  it('does not change queued deliveries and attempts in flight', async () => {
    const tenant = newTenant();
    const attempt = await queued(tenant);
    const { deliveryId } = attempt;
    const waiting = await get(tenant, deliveryId);
    expect(await retry(tenant, deliveryId)).toEqual(waiting);
    await attempts.record(answered(attempt, 500));
    await attempts.record(inFlight(await retried(tenant, deliveryId)));
    await commandsOf(tenant);
    const underWay = await get(tenant, deliveryId);
    expect(await retry(tenant, deliveryId)).toEqual(underWay);
    expect(await commandsOf(tenant)).toEqual([]);
  });

  it('queues a held delivery, even if its subscription is being probed', async () => {
    const tenant = newTenant();
    const deliveryId = await held(tenant);
    expect(await retry(tenant, deliveryId)).toMatchObject({ status: PENDING, workflowId: '' });
    expect(await due(tenant)).toMatchObject([{ deliveryId, number: 2 }]);
  });

  it('keeps a delivery on hold while the subscription is paused, and sends it first on resume', async () => {
    const tenant = newTenant();
    const deliveryId = await attempted(tenant, 500);
    const { subscriptionId } = await get(tenant, deliveryId);
    const ofSubscription = () => ({ ...newWrite(tenant), subscriptionId });
    await fixture.subscriptions.pauseWebhookSubscription(ofSubscription());
    const delivery = await retry(tenant, deliveryId);
    expect(delivery.status).toBe(HELD);
    expect(isDue(delivery)).toBe(true);
    expect(await due(tenant)).toEqual([]);
    await fixture.subscriptions.resumeWebhookSubscription(ofSubscription());
    expect(await due(tenant)).toMatchObject([{ deliveryId }]);
  });

  it('refuses an ended delivery, with its status', async () => {
    const tenant = newTenant();
    const deliveryId = await attempted(tenant, 200);
    await expectRefusal(retry(tenant, deliveryId), Code.FailedPrecondition, 'DELIVERY_STATE', {
      state: 'SUCCEEDED',
    });
  });

  it('is consistent with a concurrent report, whichever is first', async () => {
    const tenant = newTenant();
    const deliveryId = await attempted(tenant, 500);
    const second = await retried(tenant, deliveryId);
    const [again, reported] = await commandThenReport(
      () => retry(tenant, deliveryId),
      () => attempts.record(answered(second, 500)),
    );
    expect(again).toMatchObject({ value: { status: RETRYING, attemptCount: 1 } });
    expect(reported).toMatchObject({ value: [{ status: 'RETRYING' }] });
    expect(isDue(await get(tenant, deliveryId))).toBe(false);
    const third = await retried(tenant, deliveryId);
    const [, refused] = await reportThenCommand(
      deliveryId,
      () => attempts.record(answered(third, 200)),
      () => retry(tenant, deliveryId),
    );
    expect(refused).toMatchObject({ reason: { code: Code.FailedPrecondition } });
    expect(await get(tenant, deliveryId)).toMatchObject({ status: SUCCEEDED, attemptCount: 3 });
  });
});

describe('CancelDelivery', () => {
  it('ends a delivery and its retry workflow; no further attempt is sent', async () => {
    const tenant = newTenant();
    const deliveryId = await attempted(tenant, 500);
    const canceled = await cancel(tenant, deliveryId);
    expect(canceled).toMatchObject({ status: CANCELED, attemptCount: 1, endedAt: expect.anything() });
    expect(canceled.nextAttemptAt).toBeUndefined();
    expect(canceled).toEqual(await get(tenant, deliveryId));
    expect(await commandsOf(tenant)).toMatchObject([{ kind: CANCEL, workflowId: `delivery-${deliveryId}` }]);
    const { attemptNumber, state } = await fixture.dispatch.requestAttempt({ deliveryId, now: true });
    expect([attemptNumber, state!.status]).toEqual([undefined, CANCELED]);
  });

  it('ends a queued delivery without a workflow command', async () => {
    const tenant = newTenant();
    const { deliveryId } = await queued(tenant);
    expect((await cancel(tenant, deliveryId)).status).toBe(CANCELED);
    expect(await due(tenant)).toEqual([]);
    expect(await commandsOf(tenant)).toEqual([]);
  });

  it('records the attempt that was in flight, and does not repeat it', async () => {
    const tenant = newTenant();
    const attempt = await queued(tenant);
    const { deliveryId } = attempt;
    await cancel(tenant, deliveryId);
    expect(await attempts.record(answered(attempt, 500))).toMatchObject([{ status: 'CANCELED' }]);
    const found = await fixture.deliveries.getDelivery({ ...tenant, deliveryId });
    expect(found.delivery).toMatchObject({ status: CANCELED });
    expect(found.attempts).toMatchObject([{ number: 1, httpStatus: 500 }]);
  });

  it('returns a canceled delivery, and refuses one that ended otherwise', async () => {
    const tenant = newTenant();
    const deliveryId = await attempted(tenant, 500);
    const canceled = await cancel(tenant, deliveryId);
    expect(await cancel(tenant, deliveryId)).toEqual(canceled);
    const other = newTenant();
    const done = await attempted(other, 200);
    await expectRefusal(cancel(other, done), Code.FailedPrecondition, 'DELIVERY_STATE', {
      state: 'SUCCEEDED',
    });
  });

  it('is consistent with a concurrent report, whichever is first', async () => {
    const tenant = newTenant();
    const deliveryId = await attempted(tenant, 500);
    const second = await retried(tenant, deliveryId);
    const [, late] = await commandThenReport(
      () => cancel(tenant, deliveryId),
      () => attempts.record(answered(second, 200)),
    );
    expect(late).toMatchObject({ value: [{ status: 'CANCELED' }] });
    expect(await get(tenant, deliveryId)).toMatchObject({ status: CANCELED });
    const other = newTenant();
    const reported = await attempted(other, 500);
    const attempt = await retried(other, reported);
    const [, refused] = await reportThenCommand(
      reported,
      () => attempts.record(answered(attempt, 200)),
      () => cancel(other, reported),
    );
    expect(refused).toMatchObject({ reason: { code: Code.FailedPrecondition } });
    expect(await get(other, reported)).toMatchObject({ status: SUCCEEDED, attemptCount: 2 });
  });

  it('unblocks the next delivery of the object, but not before earlier ones have ended', async () => {
    const tenant = newTenant();
    await fixture.subscriptions.createWebhookSubscription({
      ...newWrite(tenant),
      url: newUrl(),
      ordered: true,
      eventTypes: ['payment.succeeded.v1'],
    });
    const objectId = randomUUID();
    for (let n = 0; n < 4; n += 1) await fixture.publish(tenant, objectId);
    const listed = (await fixture.deliveries.listDeliveries({ ...tenant, eventType: 'payment.succeeded.v1' }))
      .deliveries;
    const [first, second, third, fourth] = listed.toReversed().map(({ id }) => id) as [
      string,
      string,
      string,
      string,
    ];
    const statuses = () =>
      Promise.all([first, second, third, fourth].map(async (id) => (await get(tenant, id)).status));
    expect(await statuses()).toEqual([PENDING, BLOCKED, BLOCKED, BLOCKED]);
    expect((await retry(tenant, second)).status).toBe(BLOCKED);
    await cancel(tenant, third);
    expect(await statuses()).toEqual([PENDING, BLOCKED, CANCELED, BLOCKED]);
    await cancel(tenant, first);
    expect(await statuses()).toEqual([CANCELED, PENDING, CANCELED, BLOCKED]);
    await cancel(tenant, second);
    expect((await due(tenant)).at(-1)).toMatchObject({ deliveryId: fourth });
  });

  it('lets one of many concurrent cancellations and retries win', async () => {
    const tenant = newTenant();
    const deliveryId = await attempted(tenant, 500);
    const calls = Array.from({ length: 8 }, (_, n) => (n % 2 ? retry : cancel)(tenant, deliveryId));
    const results = await Promise.allSettled(calls);
    for (const [n, result] of results.entries()) if (n % 2 === 0) expect(result.status).toBe('fulfilled');
    expect(await get(tenant, deliveryId)).toMatchObject({ status: CANCELED });
    const rows = await fixture.sql('select from webhooks.ended_delivery where id = $1', [deliveryId]);
    expect(rows).toHaveLength(1);
  });
});

describe('commands about deliveries', () => {
  it('accept ids in upper case', async () => {
    const tenant = newTenant();
    const deliveryId = await attempted(tenant, 500);
    expect((await retry(tenant, deliveryId.toUpperCase())).id).toBe(deliveryId);
    expect((await cancel(tenant, deliveryId.toUpperCase())).id).toBe(deliveryId);
    expect((await commandsOf(tenant)).map(({ workflowId }) => workflowId)).toEqual(
      // Of four: the cancellation takes the starts away.
      Array.from({ length: 2 }, () => `delivery-${deliveryId}`),
    );
  });
});
