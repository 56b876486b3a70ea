import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  DeliveryStatus,
  WebhookSubscriptionState,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newTenant, type TestTenant } from '../../../support/harness.ts';
import { answered, startAttempts } from '../attempts/attempts-fixture.ts';
import { eventually, startLanesFixture } from './lanes-fixture.ts';

/** Open retry workflows of a subscription. */
const RETRY_LIMIT = 3;

let tenant: TestTenant;
const webhooks = await startLanesFixture({ WEBHOOK_RETRY_WORKFLOW_LIMIT: String(RETRY_LIMIT) });
afterAll(() => webhooks[Symbol.asyncDispose]());
beforeEach(() => {
  tenant = newTenant(Environment.TEST);
});

const counts = async () =>
  Object.fromEntries(
    Object.entries(Object.groupBy(await webhooks.statuses(tenant), (status) => status)).map(
      ([status, all]) => [status, all!.length],
    ),
  );
const publish = (count: number) => webhooks.publishMany(tenant, count);
const heldDue = (id: string) =>
  webhooks.sql(
    `update webhooks.open_delivery set next_attempt_at = now() - interval '1 s'
      where subscription_id = $1 and status = 'HELD'`,
    [id],
  );

describe('a failing endpoint', () => {
  it('has a limited number of retry workflows; further deliveries are held and keep their schedule', async () => {
    const { endpoint } = await webhooks.subscribed(tenant);
    endpoint.answer(500);
    await publish(8);
    await eventually(async () => expect(await counts()).toEqual({ RETRYING: RETRY_LIMIT, HELD: 5 }));
    const { deliveries } = await webhooks.deliveries.listDeliveries({
      ...tenant,
      status: DeliveryStatus.HELD,
    });
    for (const held of deliveries) {
      expect(held).toMatchObject({ attemptCount: 1, nextAttemptAt: expect.anything(), workflowId: '' });
    }
    const started = (await webhooks.claimCommands()).filter(
      ({ merchantId, workflowType }) => merchantId === tenant.merchantId && workflowType === 'retryDelivery',
    );
    expect(started).toHaveLength(RETRY_LIMIT);
  });

  it('is probed with one held delivery every five seconds, and after a success all are sent', async () => {
    const { id, endpoint } = await webhooks.subscribed(tenant);
    endpoint.answer(500);
    await publish(9);
    await eventually(async () => expect(await counts()).toEqual({ RETRYING: RETRY_LIMIT, HELD: 6 }));
    const times: number[] = [];
    let status = 500;
    endpoint.answer((_request, response) => {
      times.push(Date.now());
      response.writeHead(status).end();
    });
    await heldDue(id);
    const [probe] = await webhooks.sql<{ at: Date }>(
      'select probe_at as at from webhooks.subscription where id = $1',
      [id],
    );
    await eventually(() => expect(times).toHaveLength(1));
    expect(times[0]!).toBeGreaterThanOrEqual(probe!.at.getTime());
    await eventually(async () => {
      const probed = await webhooks.sql(
        `select from webhooks.open_delivery where subscription_id = $1 and status = 'HELD' and attempt_count = 2`,
        [id],
      );
      expect(probed).toHaveLength(1);
    });
    status = 200;
    await heldDue(id);
    await eventually(async () => expect(await counts()).toEqual({ RETRYING: RETRY_LIMIT, SUCCEEDED: 6 }));
    expect(times).toHaveLength(1 + 6);
    expect(times[1]! - times[0]!).toBeGreaterThan(4_800);
    await eventually(async () => {
      const [subscription] = await webhooks.sql(
        'select state, holding from webhooks.subscription where id = $1',
        [id],
      );
      expect(subscription).toEqual({ state: 'ACTIVE', holding: false });
    });
  });

  it('holds deliveries with long attempts beyond the limit; their outcomes count', async () => {
    const { endpoint } = await webhooks.subscribed(tenant);
    const held = endpoint.hold();
    await publish(RETRY_LIMIT + 2);
    await eventually(async () => expect(await counts()).toEqual({ RETRYING: RETRY_LIMIT, HELD: 2 }));
    held.release(200);
    await eventually(async () => expect(await counts()).toEqual({ SUCCEEDED: RETRY_LIMIT + 2 }));
    expect(endpoint.eventIds).toHaveLength(RETRY_LIMIT + 2);
  });

  it('has no more retry workflows when failures are recorded at once', async () => {
    const { endpoint } = await webhooks.subscribed(tenant);
    // Not sent, but in memory: recorded here, as by the owner of the lane.
    const held = endpoint.hold();
    await publish(12);
    const attempts = await startAttempts(webhooks.harness);
    const due = await attempts.due(tenant.merchantId);
    await Promise.all(due.map((attempt) => attempts.record(answered(attempt, 500))));
    await attempts.close();
    expect(await counts()).toEqual({ RETRYING: RETRY_LIMIT, HELD: 12 - RETRY_LIMIT });
    held.release(500);
  });
});

describe('held deliveries', () => {
  it('are sent when they are due, beside many subscriptions with deliveries due in hours', async () => {
    const { id, endpoint } = await webhooks.subscribed(tenant);
    const { id: eventId } = await webhooks.publish(tenant);
    await eventually(() => expect(endpoint.eventIds).toEqual([eventId]));
    await webhooks.sql(
      `with others as (
         insert into webhooks.subscription
           (merchant_id, environment, id, url, unique_url, event_types, state, generation, created_at, holding, ordered)
         select merchant_id, environment, uuidv7(), url || n, unique_url || n, event_types, 'ACTIVE', 1, created_at,
                true, false
           from webhooks.subscription cross join generate_series(1, 150) as n where id = $1
         returning id, lane, true as later
       ), holding as (
         select id, lane, later from others union all
         select id, lane, false from webhooks.subscription where id = $1
       )
       insert into webhooks.open_delivery
         (merchant_id, environment, id, subscription_id, lane, event_id, event_type, object_id, sequence, request_id,
          ordered, status, attempt_count, next_attempt_at)
       select e.merchant_id, e.environment, uuidv7(), h.id, h.lane, e.id, e.type, e.object_id, e.sequence, e.request_id,
              false, 'HELD', 2, case when h.later then now() + interval '5 hours' else now() end
         from webhooks.event e cross join holding h where e.id = $2`,
      [id, eventId],
    );
    await webhooks.sql('update webhooks.subscription set holding = true, probe_at = now() where id = $1', [
      id,
    ]);
    await eventually(() => expect(endpoint.eventIds).toEqual([eventId, eventId]));
    await delay(100);
    expect(endpoint.eventIds).toHaveLength(2);
  });

  it('are probed in time by a process whose clock is an hour behind', async () => {
    const { id, endpoint } = await webhooks.subscribed(tenant);
    endpoint.answer(500);
    await publish(RETRY_LIMIT + 1);
    await eventually(async () => expect(await counts()).toEqual({ RETRYING: RETRY_LIMIT, HELD: 1 }));
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    await heldDue(id);
    await eventually(() => expect(endpoint.eventIds).toHaveLength(RETRY_LIMIT + 2));
  });

  it('put their subscription in ERROR once one is exhausted, and are still probed', async () => {
    const { id, endpoint } = await webhooks.subscribed(tenant);
    endpoint.answer(500);
    await publish(RETRY_LIMIT + 2);
    await eventually(async () => expect(await counts()).toEqual({ RETRYING: RETRY_LIMIT, HELD: 2 }));
    await webhooks.sql(
      `update webhooks.open_delivery set attempt_count = 3, next_attempt_at = now()
        where subscription_id = $1 and status = 'HELD'`,
      [id],
    );
    await webhooks.sql(
      `insert into webhooks.attempt
         (merchant_id, environment, delivery_id, number, generation, started_at, ended_at, http_status)
       select merchant_id, environment, id, number, 1, now(), now(), 500
         from webhooks.open_delivery cross join generate_series(2, 3) as number
        where subscription_id = $1 and status = 'HELD'`,
      [id],
    );
    await eventually(async () => expect(await counts()).toMatchObject({ HELD: 1, EXHAUSTED: 1 }));
    expect((await webhooks.subscriptionOf(tenant, id)).state).toBe(WebhookSubscriptionState.ERROR);
    endpoint.answer(200);
    await eventually(async () => expect(await counts()).toMatchObject({ EXHAUSTED: 1, SUCCEEDED: 1 }));
    expect((await webhooks.subscriptionOf(tenant, id)).state).toBe(WebhookSubscriptionState.ACTIVE);
  });
});
