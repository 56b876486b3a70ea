import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  DeliveryStatus,
  type Resend,
  ResendState,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { workflowId, workflowType } from '../../../services/contracts/webhooks/resend-deliveries.contract.ts';
import { TASK_QUEUE } from '../../../workflows/temporal/task-queue.ts';
import { newWrite } from '../../support/harness.ts';
import { TEMPORAL_START_MS } from '../../support/temporal.ts';
import { DeliverySystem, SOON, type Subscriber } from './delivery-system.ts';

const { COMPLETED, CANCELED } = ResendState;

let system: DeliverySystem;
beforeAll(async () => {
  system = await DeliverySystem.start({});
}, TEMPORAL_START_MS);
afterAll(() => system?.[Symbol.asyncDispose]());

const workflowOf = ({ id }: Resend) => system.temporal.client.workflow.getHandle(workflowId(id));

/** A subscriber to whom an event was delivered. */
async function withEvent() {
  const subscriber = await system.subscriber();
  const { id: eventId } = await system.webhooks.publish(subscriber.tenant);
  await system.becomes(subscriber, eventId, DeliveryStatus.SUCCEEDED);
  return { ...subscriber, eventId };
}

const named = ({ tenant, subscriptionId }: Subscriber) => ({ ...newWrite(tenant), subscriptionId });
const pause = (subscriber: Subscriber) =>
  system.webhooks.subscriptions.pauseWebhookSubscription(named(subscriber));
const resume = (subscriber: Subscriber) =>
  system.webhooks.subscriptions.resumeWebhookSubscription(named(subscriber));

async function resendTo(subscriber: Awaited<ReturnType<typeof withEvent>>): Promise<Resend> {
  const { resend } = await system.webhooks.deliveries.resendDeliveries({
    ...named(subscriber),
    selection: { case: 'eventId', value: subscriber.eventId },
  });
  return resend!;
}

/** A resend to a paused subscription: its workflow keeps polling until the subscription is resumed. */
async function startResendWhilePaused() {
  const subscriber = await withEvent();
  await pause(subscriber);
  const resend = await resendTo(subscriber);
  await shows(resend, /^1 of 1 deliveries created: 0 succeeded, 1 open/);
  return { subscriber, resend };
}

const shows = (resend: Resend, message: RegExp) =>
  vi.waitFor(async () => {
    const { raw } = await workflowOf(resend).describe();
    expect(raw.pendingActivities?.[0]?.lastFailure?.message).toMatch(message);
  }, SOON);

/** What a resend's workflow returns; waits until the relay has started it. */
async function resultOf(resend: Resend): Promise<unknown> {
  await vi.waitFor(() => workflowOf(resend).describe(), SOON);
  return workflowOf(resend).result();
}

const becomes = ({ id, merchantId, environment }: Resend, state: ResendState) =>
  vi.waitFor(async () => {
    const { resend } = await system.webhooks.deliveries.getResend({ merchantId, environment, resendId: id });
    expect(ResendState[resend!.state]).toBe(ResendState[state]);
  }, SOON);

/** Waits until the workflow has asked for this many further steps. */
async function hasContinued(steps: number): Promise<void> {
  const until = system.callsOf('ContinueResend') + steps;
  await vi.waitFor(() => expect(system.callsOf('ContinueResend')).toBeGreaterThanOrEqual(until), SOON);
}

describe('the resend workflow', () => {
  it('continues until the resend has ended, and its history does not grow with the steps', async () => {
    const few = await withEvent();
    const quick = await resendTo(few);
    const counts = { succeeded: 1, exhausted: 0, canceled: 0 };
    expect(await resultOf(quick)).toEqual({ state: 'COMPLETED', made: 1, ...counts });
    const { subscriber, resend: slow } = await startResendWhilePaused();
    await hasContinued(4);
    await resume(subscriber);
    expect(await resultOf(slow)).toEqual({ state: 'COMPLETED', made: 1, ...counts });
    const [short, long] = await Promise.all([quick, slow].map((resend) => workflowOf(resend).describe()));
    expect(long!.historyLength).toBe(short!.historyLength);
    expect(few.endpoint.eventIds).toEqual([few.eventId, few.eventId]);
  });

  it('is found by its subscription', async () => {
    const { subscriber, resend } = await startResendWhilePaused();
    const query = `SubscriptionIds = '${subscriber.subscriptionId}' and WorkflowType = '${workflowType}'`;
    await vi.waitFor(async () => expect(await system.find(query)).toEqual([workflowId(resend.id)]), SOON);
  });

  it('continues when the services are back', async () => {
    const { subscriber, resend } = await startResendWhilePaused();
    system.unavailable.add('ContinueResend');
    await hasContinued(2);
    system.unavailable.clear();
    await resume(subscriber);
    await becomes(resend, COMPLETED);
  });

  it('cancels the resend when it is canceled in Temporal', async () => {
    const { subscriber, resend } = await startResendWhilePaused();
    await workflowOf(resend).cancel();
    await expect(workflowOf(resend).result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    await becomes(resend, CANCELED);
    await resume(subscriber);
    expect(subscriber.endpoint.eventIds).toEqual([subscriber.eventId]);
  });

  it('ends as canceled, too, when it sees the cancellation of the resend before its own', async () => {
    const { resend } = await startResendWhilePaused();
    await system.webhooks.sql(
      `update webhooks.resend set state = 'CANCELED', ended_at = now(), canceled_count = 1, open_ids = '{}' where id = $1`,
      [resend.id],
    );
    await vi.waitFor(async () => {
      const { raw } = await workflowOf(resend).describe();
      expect(raw.pendingActivities).toEqual([]);
    }, SOON);
    expect((await workflowOf(resend).describe()).status.name).toBe('RUNNING');
    await workflowOf(resend).cancel();
    await expect(workflowOf(resend).result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
  });

  it('fails for a resend that does not exist', async () => {
    const resendId = crypto.randomUUID();
    const input = { resendId, merchantId: crypto.randomUUID(), environment: 'test' };
    const options = { taskQueue: TASK_QUEUE, workflowId: workflowId(resendId), args: [input] };
    const handle = await system.temporal.client.workflow.start(workflowType, options);
    await expect(handle.result()).rejects.toMatchObject({ cause: { cause: { type: 'RESEND_NOT_FOUND' } } });
  });
});
