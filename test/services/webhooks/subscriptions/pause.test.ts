import { setTimeout as delay } from 'node:timers/promises';
import { Code } from '@connectrpc/connect';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { WorkflowCommandKind } from '../../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import {
  DeliveryStatus,
  WebhookSubscriptionState,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { newTenant, newWrite, type TestTenant } from '../../../support/harness.ts';
import { eventually, startLanesFixture } from '../lanes/lanes-fixture.ts';

/** A pause takes effect within a second. */
const IN_EFFECT_MS = 1_000;

let tenant: TestTenant;
const webhooks = await startLanesFixture();
afterAll(() => webhooks[Symbol.asyncDispose]());
beforeEach(() => {
  tenant = newTenant(Environment.TEST);
});

/** A subscription whose ping was answered, and how to pause and resume it. */
async function activeSubscription() {
  const { id, endpoint } = await webhooks.subscribed(tenant);
  const request = () => ({ ...newWrite(tenant), subscriptionId: id });
  return {
    id,
    endpoint,
    request,
    pause: async () => (await webhooks.subscriptions.pauseWebhookSubscription(request())).subscription!,
    resume: async () => (await webhooks.subscriptions.resumeWebhookSubscription(request())).subscription!,
    get: () => webhooks.subscriptionOf(tenant, id),
  };
}

const statuses = () => webhooks.statuses(tenant);
const untilStatuses = (...expected: string[]) =>
  eventually(async () => expect(await statuses()).toEqual(expected));

async function lastDeliveryId() {
  const { deliveries } = await webhooks.deliveries.listDeliveries({ ...tenant, pageSize: 1 });
  return deliveries[0]!.id;
}

const publish = (count: number) => webhooks.publishMany(tenant, count);

describe('a paused subscription', () => {
  it('keeps its state and shows since when it is paused, until it is resumed', async () => {
    const { pause, resume, get, request } = await activeSubscription();
    const paused = await pause();
    expect(paused).toMatchObject({ state: WebhookSubscriptionState.ACTIVE, pausedAt: expect.anything() });
    expect(await get()).toEqual(paused);
    expect(await pause()).toEqual(paused);
    const once = request();
    const resumed = await webhooks.subscriptions.resumeWebhookSubscription(once);
    expect(resumed.subscription!.pausedAt).toBeUndefined();
    expect((await resume()).pausedAt).toBeUndefined();
    await pause();
    await webhooks.subscriptions.resumeWebhookSubscription(once);
    expect(await get()).toMatchObject({ pausedAt: expect.anything() });
  });

  it('collects events without sending them; once resumed, sends them oldest first', async () => {
    const { endpoint, pause, resume, request } = await activeSubscription();
    await webhooks.subscriptions.setDeliveryLimits({ ...request(), maxConcurrentAttempts: 1 });
    await pause();
    const events = await publish(5);
    await delay(IN_EFFECT_MS);
    expect(await statuses()).toEqual(Array(5).fill('HELD'));
    expect(endpoint.eventIds).toEqual([]);
    await resume();
    events.push(...(await publish(1)));
    await eventually(() => expect(endpoint.eventIds).toEqual(events));
    await untilStatuses(...Array(6).fill('SUCCEEDED'));
  });

  it('holds deliveries waiting in memory, and lets started attempts end', async () => {
    const { endpoint, pause, resume, request } = await activeSubscription();
    await webhooks.subscriptions.setDeliveryLimits({ ...request(), maxConcurrentAttempts: 1 });
    await delay(IN_EFFECT_MS);
    const held = endpoint.hold();
    const [begun, waiting] = await publish(2);
    await eventually(() => expect(endpoint.eventIds).toEqual([begun]));
    await pause();
    expect(await statuses()).toEqual(['HELD', 'HELD']);
    await delay(IN_EFFECT_MS);
    held.release(200);
    await untilStatuses('SUCCEEDED', 'HELD');
    await delay(IN_EFFECT_MS);
    expect(endpoint.eventIds).toEqual([begun]);
    endpoint.answer(200);
    await resume();
    await eventually(() => expect(endpoint.eventIds).toEqual([begun, waiting]));
    await untilStatuses('SUCCEEDED', 'SUCCEEDED');
  });

  it('holds a delivery whose attempt fails in the meantime, and starts no workflow for it', async () => {
    const { endpoint, pause } = await activeSubscription();
    const held = endpoint.hold();
    await publish(1);
    await eventually(() => expect(held.count).toBe(1));
    await pause();
    held.release(500);
    const deliveryId = await lastDeliveryId();
    const { delivery } = await eventually(async () => {
      const found = await webhooks.deliveries.getDelivery({ ...tenant, deliveryId });
      expect(found.attempts).toMatchObject([{ httpStatus: 500 }]);
      return found;
    });
    expect(delivery).toMatchObject({ status: DeliveryStatus.HELD, nextAttemptAt: expect.anything() });
    const workflows = (await webhooks.claimCommands()).map(({ workflowId }) => workflowId);
    expect(workflows).not.toContain(`delivery-${deliveryId}`);
  });

  it('ends its retry workflows, and continues their deliveries without them when they are due', async () => {
    const { endpoint, pause, resume } = await activeSubscription();
    endpoint.answer(500);
    await publish(1);
    await untilStatuses('RETRYING');
    await webhooks.claimCommands();
    await pause();
    const deliveryId = await lastDeliveryId();
    const commands = await webhooks.claimCommands();
    expect(commands.filter(({ workflowId }) => workflowId === `delivery-${deliveryId}`)).toMatchObject([
      { kind: WorkflowCommandKind.SIGNAL, signalName: 'recheck' },
    ]);
    const { attemptNumber, state } = await webhooks.dispatch.requestAttempt({ deliveryId, now: true });
    expect([attemptNumber, state!.status]).toEqual([undefined, DeliveryStatus.HELD]);
    endpoint.answer(200);
    await webhooks.sql('update webhooks.open_delivery set next_attempt_at = now() where id = $1', [
      deliveryId,
    ]);
    await delay(IN_EFFECT_MS);
    expect(endpoint.eventIds).toHaveLength(1);
    await resume();
    await untilStatuses('SUCCEEDED');
    expect(endpoint.eventIds).toHaveLength(2);
  });

  it('sends deliveries that are due later when they are due, once it is resumed', async () => {
    const { endpoint, pause, resume } = await activeSubscription();
    endpoint.answer(500);
    await publish(1);
    await untilStatuses('RETRYING');
    await pause();
    await resume();
    expect(await statuses()).toEqual(['HELD']);
    endpoint.answer(200);
    await untilStatuses('SUCCEEDED');
  });

  it('is still probed when it is resumed while its endpoint fails', async () => {
    const { id, endpoint, pause, resume } = await activeSubscription();
    await pause();
    await publish(2);
    await webhooks.sql(
      `update webhooks.subscription set probe_at = now() + interval '1 hour' where id = $1`,
      [id],
    );
    await resume();
    await delay(IN_EFFECT_MS + 500);
    expect(endpoint.eventIds).toEqual([]);
    endpoint.hold();
    await webhooks.sql('update webhooks.subscription set probe_at = now() where id = $1', [id]);
    await eventually(() => expect(endpoint.eventIds).toHaveLength(1));
    await delay(IN_EFFECT_MS);
    expect(endpoint.eventIds).toHaveLength(1);
  });

  it('cannot be paused while it is disabled, and is no longer paused once it was disabled', async () => {
    const { endpoint, pause, request, resume } = await activeSubscription();
    await pause();
    const { subscription } = await webhooks.subscriptions.disableWebhookSubscription(request());
    expect(subscription!.pausedAt).toBeUndefined();
    await expectRefusal(pause(), Code.FailedPrecondition, 'WEBHOOK_SUBSCRIPTION_STATE', {
      state: 'DISABLED',
    });
    expect((await resume()).state).toBe(WebhookSubscriptionState.DISABLED);
    const anew = await webhooks.subscriptions.reactivateWebhookSubscription(request());
    expect(anew.subscription!.pausedAt).toBeUndefined();
    await eventually(() => expect(endpoint.requests).toHaveLength(2));
  });

  it('moves all waiting deliveries, in steps of a thousand', async () => {
    const { id, endpoint, pause, resume, request } = await activeSubscription();
    await pause();
    // No publication adds PENDING deliveries to a paused subscription: the owner of its lane would send them until it has
    // read the pause.
    await delay(1_000);
    const { id: eventId } = await webhooks.publish(tenant);
    await webhooks.sql(
      `insert into webhooks.open_delivery (merchant_id, environment, id, subscription_id, lane, event_id, event_type,
         object_id, sequence, request_id, ordered, status, attempt_count, next_attempt_at)
       select merchant_id, environment, uuidv7(), $2, webhooks.lane_of($2), id, type, object_id, sequence, request_id,
              false, 'PENDING', 0, now() from webhooks.event cross join generate_series(1, 1199) where id = $1`,
      [eventId, id],
    );
    const waiting = () =>
      webhooks.sql(
        `select status, count(*)::int from webhooks.delivery
         where subscription_id = $1 and event_id = $2 and status in ('HELD', 'PENDING') group by 1`,
        [id, eventId],
      );
    await pause();
    expect(await waiting()).toEqual([{ status: 'HELD', count: 1_200 }]);
    await resume();
    expect(await waiting()).not.toContainEqual(expect.objectContaining({ status: 'HELD' }));
    await eventually(() => expect(endpoint.eventIds.length).toBeGreaterThan(0));
    await webhooks.subscriptions.disableWebhookSubscription(request());
  });
});

describe('pausing while everything else goes on', () => {
  it('leaves no delivery queued or retried under concurrent publishing, sending and recording', async () => {
    const { id, endpoint, pause, resume } = await activeSubscription();
    let answers = 0;
    endpoint.answer((_request, response) => {
      answers += 1;
      response.writeHead(answers % 4 ? 200 : 500).end();
    });
    let stopped = false;
    const publishing = (async () => {
      while (!stopped) await webhooks.publish(tenant);
    })();
    const seen = new Set<string>();
    for (let round = 0; round < 4; round += 1) {
      await resume();
      await delay(100);
      await pause();
      for (let look = 0; look < 4; look += 1) {
        const rows = await webhooks.sql<{ status: string }>(
          'select distinct status from webhooks.open_delivery where subscription_id = $1',
          [id],
        );
        for (const { status } of rows) seen.add(status);
        await delay(10);
      }
    }
    stopped = true;
    await publishing;
    expect([...seen]).toEqual(['HELD']);
    expect(answers).toBeGreaterThan(0);
  });
});

describe('limits of a subscription', () => {
  it('are returned as set, and can be reset to the defaults', async () => {
    const { request, get } = await activeSubscription();
    const limits = { maxConcurrentAttempts: 3, maxAttemptsPerSecond: 50 };
    const set = await webhooks.subscriptions.setDeliveryLimits({ ...request(), ...limits });
    expect(set.subscription).toMatchObject(limits);
    expect(await get()).toEqual(set.subscription);
    await webhooks.subscriptions.setDeliveryLimits({ ...request(), maxConcurrentAttempts: 200 });
    expect(await get()).toMatchObject({ maxConcurrentAttempts: 200, maxAttemptsPerSecond: undefined });
    await webhooks.subscriptions.setDeliveryLimits(request());
    expect((await get()).maxConcurrentAttempts).toBeUndefined();
  });

  it('are refused beyond their bounds', async () => {
    const { request } = await activeSubscription();
    const beyond = [
      ['max_concurrent_attempts', { maxConcurrentAttempts: 0 }],
      ['max_concurrent_attempts', { maxConcurrentAttempts: 201 }],
      ['max_attempts_per_second', { maxAttemptsPerSecond: 0 }],
      ['max_attempts_per_second', { maxAttemptsPerSecond: 1_001 }],
    ] as const;
    for (const [field, limits] of beyond) {
      const set = webhooks.subscriptions.setDeliveryLimits({ ...request(), ...limits });
      await expectRefusal(set, Code.InvalidArgument, 'INVALID_ARGUMENT', { field });
    }
  });
});
