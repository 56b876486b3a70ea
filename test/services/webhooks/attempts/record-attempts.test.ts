import { setTimeout as delay } from 'node:timers/promises';
import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { createContextValues } from '@connectrpc/connect';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  AttemptFailure,
  DeliveryStatus,
  WebhookSubscriptionState,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { DAY_MS } from '../../../../services/platform/durations.ts';
import { tenantOf } from '../../../../services/platform/tenant.ts';
import type { ReportedAttempt } from '../../../../services/webhooks/deliveries/delivery.ts';
import { newTenant, newWrite, type TestTenant } from '../../../support/harness.ts';
import { openSession } from '../../../support/sql.ts';
import { answered, inFlight, POOL_SIZE, reportOf, startWebhooks } from './attempts-fixture.ts';

const { harness, fixture, attempts } = await startWebhooks();
let tenant: TestTenant;
beforeEach(() => {
  tenant = newTenant();
});

/** The first attempts of events to a subscription that has answered its ping. */
async function firstAttempts(count: number) {
  const { id: subscriptionId } = await fixture.subscribe(tenant);
  await attempts.answerAll(200, tenant.merchantId);
  await fixture.publishMany(tenant, count);
  return (await attempts.due(tenant.merchantId)).map((attempt) => ({ ...attempt, subscriptionId }));
}

const firstAttempt = async () => (await firstAttempts(1))[0]!;

const read = async (deliveryId: string) => {
  const { delivery, attempts } = await fixture.deliveries.getDelivery({ ...tenant, deliveryId });
  return { delivery: delivery!, attempts };
};

/** Waits until this many statements wait for a lock. */
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

/** A transaction that has recorded a failed first attempt, which another report of it waits for. */
async function recordingElsewhere(deliveryId: string) {
  const other = await openSession(harness.databaseUrl);
  await other.query('begin');
  await other.query(
    `insert into webhooks.attempt
       (merchant_id, environment, delivery_id, number, generation, started_at, ended_at, failure)
     select merchant_id, environment, id, 1, 1, now(), now(), 'TLS' from webhooks.open_delivery where id = $1`,
    [deliveryId],
  );
  return other;
}

describe('a report', () => {
  it('is recorded once when it is repeated, also concurrently', async () => {
    const attempt = await firstAttempt();
    const report = answered(attempt, 500);
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => attempts.record(report)));
    for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0]);
    const found = await read(attempt.deliveryId);
    expect(found.delivery).toMatchObject({ status: DeliveryStatus.RETRYING, attemptCount: 1 });
    expect(found.attempts).toHaveLength(1);
    expect(await attempts.record(answered(attempt, 200))).toEqual(outcomes[0]);
    expect(await attempts.record(answered({ ...attempt, number: 3 }, 200))).toEqual(outcomes[0]);
    expect(await read(attempt.deliveryId)).toEqual(found);
  });

  it('that contradicts another report of the same attempt is applied completely or not at all', async () => {
    const attempt = await firstAttempt();
    const { deliveryId } = attempt;
    await using other = await recordingElsewhere(deliveryId);
    const failure = attempts.record(answered(attempt, 500));
    await areWaiting(1);
    const success = attempts.record(answered(attempt, 200));
    await areWaiting(2);
    await other.query('rollback');
    expect(await success).toEqual(await failure);
    const found = await read(deliveryId);
    expect(found.delivery.status).toBe(DeliveryStatus.RETRYING);
    expect(found.attempts).toMatchObject([{ number: 1, httpStatus: 500 }]);
  });

  it.each([
    { of: 'a success', httpStatus: 200 },
    { of: 'a failure', httpStatus: 500 },
  ])('of $of is refused once another process has taken the lane', async ({ httpStatus }) => {
    const attempt = await firstAttempt();
    await fixture.sql('update webhooks.lane set epoch = epoch + 1 where id = $1', [attempt.lane]);
    expect(await attempts.record(answered(attempt, httpStatus))).toEqual([]);
    expect(await attempts.record(inFlight(attempt))).toEqual([]);
    const found = await read(attempt.deliveryId);
    expect(found.delivery).toMatchObject({ status: DeliveryStatus.PENDING, attemptCount: 0 });
    expect(found.attempts).toEqual([]);
    const [again] = await attempts.due(tenant.merchantId);
    expect(await attempts.record(answered(again!, httpStatus))).toHaveLength(1);
  });

  it('of a success at the first attempt ends the probing of a subscription that holds deliveries', async () => {
    const attempt = await firstAttempt();
    const { subscriptionId } = attempt;
    await fixture.sql(
      `update webhooks.subscription set holding = true, probe_at = now() + interval '1 hour' where id = $1`,
      [subscriptionId],
    );
    expect(await attempts.record(answered(attempt, 200))).toMatchObject([{ status: 'SUCCEEDED' }]);
    const [health] = await fixture.sql('select state, probe_at from webhooks.subscription where id = $1', [
      subscriptionId,
    ]);
    expect(health).toEqual({ state: 'ACTIVE', probe_at: null });
  });

  it('makes a process that takes the lane wait until it is committed', async () => {
    const attempt = await firstAttempt();
    await using other = await recordingElsewhere(attempt.deliveryId);
    const recording = attempts.record(answered(attempt, 500));
    await areWaiting(1);
    const taking = fixture.sql('update webhooks.lane set epoch = epoch + 1 where id = $1', [attempt.lane]);
    expect(await Promise.race([taking, delay(300, 'waits')])).toBe('waits');
    await other.query('rollback');
    expect(await recording).toMatchObject([{ status: 'RETRYING' }]);
    await taking;
  });
});

describe('a process whose clock is wrong', () => {
  /** Later than the second attempt is due, and than an attempt is lost. */
  const SOON_MS = 60_000;
  const isSoon = (at: Date | null) => at !== null && Math.abs(at.getTime() - Date.now()) < SOON_MS;
  const clock = (aheadMs: number) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + aheadMs });
    return { [Symbol.dispose]: () => void vi.useRealTimers() };
  };

  it.each([
    { ahead: DAY_MS, corrected: false },
    { ahead: DAY_MS, corrected: true },
    { ahead: -DAY_MS, corrected: false },
  ])('retries and closes attempts as if it were right: %o', async ({ ahead, corrected }) => {
    const [failed, hanging] = await firstAttempts(2);
    let reports: ReportedAttempt[];
    {
      using _ = clock(ahead);
      reports = [answered(failed!, 500), inFlight(hanging!)];
    }
    using _ = clock(corrected ? 0 : ahead);
    const recorded = await attempts.record(...reports);
    vi.useRealTimers();
    expect(recorded).toMatchObject([{ status: 'RETRYING' }, { status: 'RETRYING' }]);
    expect(recorded.map(({ nextAttemptAt }) => isSoon(nextAttemptAt))).toEqual([true, true]);
    expect(recorded[0]!.nextAttemptAt!.getTime()).toBeGreaterThan(Date.now());
  });
});

describe('an attempt in flight', () => {
  it('is closed as WORKER_LOST by the owner of its lane once it is overdue, and the schedule continues', async () => {
    const attempt = await firstAttempt();
    const { deliveryId } = attempt;
    const startedAt = new Date(Date.now() - 20_100);
    const deadlineAt = new Date(startedAt.getTime() + 15_000);
    await attempts.record(inFlight(attempt, startedAt));
    const overdue = await fixture.dispatch.requestAttempt({ deliveryId });
    expect(overdue.attemptNumber).toBeUndefined();
    expect(overdue.state).toMatchObject({ delayMs: 1_000n });
    await attempts.closeLost();
    const { attemptNumber, state } = await fixture.dispatch.requestAttempt({ deliveryId });
    expect(state).toMatchObject({ lastAttemptNumber: 1, failure: AttemptFailure.WORKER_LOST });
    // Five seconds after the deadline, 20 % more or less, are over or about to be.
    if (attemptNumber === undefined) expect(Number(state!.delayMs)).toBeLessThan(1_000);
    const found = await read(deliveryId);
    expect(found.attempts).toMatchObject([
      { number: 1, failure: AttemptFailure.WORKER_LOST, endedAt: timestampFromDate(deadlineAt) },
    ]);
    expect(found.delivery).toMatchObject({ status: DeliveryStatus.RETRYING, attemptCount: 1 });
    const late = await attempts.record({ ...answered(attempt, 200), owner: undefined });
    expect(late).toMatchObject([{ status: 'RETRYING' }]);
    expect((await read(deliveryId)).attempts).toEqual(found.attempts);
  });

  it('that was lost does not count in the schedule', async () => {
    const first = await firstAttempt();
    const waitsMs: number[] = [];
    for (const failure of ['TIMEOUT', 'WORKER_LOST', 'WORKER_LOST', 'TIMEOUT'] as const) {
      const endedAt = new Date();
      const attempt = { ...first, number: first.number + waitsMs.length };
      const [recorded] = await attempts.record(reportOf(attempt, { endedAt, latencyMs: 5, failure }));
      waitsMs.push(recorded!.nextAttemptAt!.getTime() - endedAt.getTime());
    }
    // By the schedule of live: 5 s, 5 min, 30 min.
    const [second, minute] = [1_000, 60_000];
    const expected = [5 * second, 5 * second, 5 * minute, 5 * minute];
    expect(waitsMs.map((ms, index) => Math.abs(ms / expected[index]! - 1) <= 0.201)).toEqual(
      Array(4).fill(true),
    );
    // Nine waits of the schedule follow two attempts of it.
    const { expectedAttempts } = await fixture.deliveries.getDelivery({
      ...tenant,
      deliveryId: first.deliveryId,
    });
    expect(expectedAttempts).toHaveLength(8);
  });

  it('may be reported once by a process that has since lost the lane', async () => {
    const attempt = await firstAttempt();
    await attempts.record(inFlight(attempt));
    await fixture.sql('update webhooks.lane set epoch = epoch + 1 where id = $1', [attempt.lane]);
    expect(await attempts.record(answered(attempt, 204))).toMatchObject([{ status: 'SUCCEEDED' }]);
    expect(await attempts.record(answered(attempt, 500))).toMatchObject([{ status: 'SUCCEEDED' }]);
    expect((await read(attempt.deliveryId)).attempts).toMatchObject([{ number: 1, httpStatus: 204 }]);
  });
});

describe('the workflow that shows a delivery', () => {
  /** Starts of it that the relay has not claimed. */
  const newStarts = () =>
    fixture.sql(
      `select from platform.outbox_command where workflow_id = 'deliveries-of-the-test' and starts = 0
          and due_at <= now() + interval '6 s'`,
    );
  const makeDue = () => fixture.sql('update platform.outbox_command set due_at = now() where starts = 0');

  it('is started again for a success whose commit it may have missed', async () => {
    const [first, second, late, last] = await firstAttempts(4);
    await fixture.sql('delete from platform.outbox_command');
    await attempts.record(answered(first!, 200));
    await attempts.record(answered(second!, 200));
    expect(await newStarts()).toHaveLength(1);

    await makeDue();
    await using locking = await openSession(harness.databaseUrl);
    await locking.query('begin');
    await locking.query('select from webhooks.open_delivery where id = $1 for update', [late!.deliveryId]);
    const recording = attempts.record(answered(late!, 200));
    await areWaiting(1);
    const claimed = await fixture.claimCommands();
    await locking.query('commit');
    expect(await recording).toMatchObject([{ status: 'SUCCEEDED' }]);
    expect(claimed).toMatchObject([{ workflowId: 'deliveries-of-the-test' }]);
    expect(await newStarts()).toHaveLength(1);

    await makeDue();
    const again = await fixture.claimCommands();
    await fixture.confirmCommands(again.map(({ id }) => id));
    await attempts.record(answered(last!, 200));
    expect(await newStarts()).toHaveLength(1);
  });

  it('is named only if there is one', async () => {
    const [held, retrying] = await firstAttempts(2);
    const setTo = (status: string, { deliveryId }: { deliveryId: string }) =>
      fixture.sql('update webhooks.open_delivery set status = $1, attempt_count = 9 where id = $2', [
        ...[status, deliveryId],
      ]);
    await setTo('HELD', held!);
    await setTo('RETRYING', retrying!);
    const workflows = async () =>
      Promise.all(
        [held!, retrying!].map(async ({ deliveryId }) => (await read(deliveryId)).delivery.workflowId),
      );
    const named = ['', `delivery-${retrying!.deliveryId}`];
    expect(await workflows()).toEqual(named);
    const last = [held!, retrying!].map((attempt) => answered({ ...attempt, number: 10 }, 500));
    expect((await attempts.record(...last)).map(({ status }) => status)).toEqual(['EXHAUSTED', 'EXHAUSTED']);
    expect(await workflows()).toEqual(named);
  });
});

describe('a subscription', () => {
  const stateOf = async (subscriptionId: string) =>
    (await fixture.subscriptions.getWebhookSubscription({ ...tenant, subscriptionId })).subscription!.state;

  it('becomes ACTIVE with the first 2xx, to its ping or another event', async () => {
    const { id } = await fixture.subscribe(tenant);
    await fixture.publish(tenant);
    expect(await stateOf(id)).toBe(WebhookSubscriptionState.PENDING);
    const [ping, event] = await attempts.due(tenant.merchantId);
    await attempts.record(answered(ping!, 500));
    expect(await stateOf(id)).toBe(WebhookSubscriptionState.PENDING);
    await attempts.record(answered(event!, 204));
    expect(await stateOf(id)).toBe(WebhookSubscriptionState.ACTIVE);
  });

  it('is not changed by attempts from before it was disabled', async () => {
    const attempt = await firstAttempt();
    const write = () => ({ ...newWrite(tenant), subscriptionId: attempt.subscriptionId });
    await fixture.subscriptions.disableWebhookSubscription(write());
    await fixture.subscriptions.reactivateWebhookSubscription(write());
    const [ping] = await attempts.due(tenant.merchantId);
    expect(ping!.generation).toBe(attempt.generation + 1n);
    for (const httpStatus of [200, 410]) {
      expect(await attempts.record(answered(attempt, httpStatus))).toMatchObject([{ status: 'CANCELED' }]);
      expect(await stateOf(attempt.subscriptionId)).toBe(WebhookSubscriptionState.PENDING);
    }
    expect((await read(attempt.deliveryId)).attempts).toMatchObject([{ httpStatus: 200 }]);
    await attempts.record(answered(ping!, 200));
    expect(await stateOf(attempt.subscriptionId)).toBe(WebhookSubscriptionState.ACTIVE);
  });

  it('that is gone is disabled while other writes of its merchant take long', async () => {
    const attempt = await firstAttempt();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const call = { values: createContextValues(), signal: new AbortController().signal };
    const others = Promise.all(
      Array.from({ length: POOL_SIZE }, () =>
        attempts.writes.transaction(tenantOf(tenant), call, () => released),
      ),
    );
    await expect(attempts.record(answered(attempt, 410))).resolves.toHaveLength(1);
    release();
    await others;
    expect(await stateOf(attempt.subscriptionId)).toBe(WebhookSubscriptionState.DISABLED);
  });

  it('that is gone delays no results of others while its merchant is locked', async () => {
    const [gone, last] = await firstAttempts(2);
    const { subscriptionId } = gone!;
    await using locking = await openSession(harness.databaseUrl);
    await locking.query('begin');
    await locking.query("select webhooks.lock_subscriptions($1, 'live')", [tenant.merchantId]);
    tenant = newTenant();
    const other = await firstAttempt();
    const reports = [answered(gone!, 410), answered(other, 500), answered(last!, 410)];
    const { recorded, locked } = await attempts.recorder.record(reports);
    expect([...recorded.keys()]).toEqual([other.deliveryId]);
    expect(locked).toEqual(new Set([gone!.deliveryId, last!.deliveryId]));
    await locking.end();
    await attempts.record(reports[0]!, reports[2]!);
    const [row] = await fixture.sql('select state from webhooks.subscription where id = $1', [
      subscriptionId,
    ]);
    expect(row).toEqual({ state: 'DISABLED' });
  });

  it('keeps the details of the attempt of a delivery that succeeded at once', async () => {
    const attempt = await firstAttempt();
    await attempts.record(answered(attempt, 201, { latencyMs: 34, responseExcerpt: 'thanks' }));
    const { delivery, attempts: made } = await read(attempt.deliveryId);
    expect(delivery).toMatchObject({
      status: DeliveryStatus.SUCCEEDED,
      attemptCount: 1,
      workflowId: 'deliveries-of-the-test',
      nextAttemptAt: undefined,
    });
    expect(made).toMatchObject([{ number: 1, httpStatus: 201, latencyMs: 34, responseExcerpt: 'thanks' }]);
    expect(timestampDate(delivery.endedAt!)).toEqual(timestampDate(made[0]!.endedAt!));
    expect(
      await fixture.sql('select from webhooks.attempt where delivery_id = $1', [attempt.deliveryId]),
    ).toEqual([]);
  });
});
