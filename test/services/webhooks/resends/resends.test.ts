import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { WorkflowCommandKind } from '../../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import { ResendState } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newTenant, newWrite, type TestTenant } from '../../../support/harness.ts';
import { lockWaits, openSession } from '../../../support/sql.ts';
import { startWebhooks } from '../attempts/attempts-fixture.ts';
import { type ResendFixture, resendFixture } from './resend-fixture.ts';

const { RUNNING, COMPLETED } = ResendState;

const { harness, attempts } = await startWebhooks({
  SERVICES: 'webhooks',
  TEMPORAL_UI_URL: 'https://temporal.example/',
});

describe('a resend', () => {
  let fixture: ResendFixture;
  beforeEach(async () => {
    fixture = resendFixture(harness, harness.transports.inProcess, attempts);
    await fixture.deliverAll();
  });

  it('delivers an event again with the same webhook-id, as a new delivery', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await fixture.subscribe(tenant);
    const event = await fixture.publish(tenant);
    const [first] = (await fixture.deliverAll()).filter(({ eventId }) => eventId === event.id);
    const resend = await fixture.resend(tenant, { case: 'eventId', value: event.id });
    expect(resend).toMatchObject({
      ...{
        ...tenant,
        state: RUNNING,
        eventId: event.id,
        onlyFailed: false,
        expectedCount: 1n,
        madeCount: 0n,
      },
      workflowId: `resend-${resend.id}`,
      workflowUrl: `https://temporal.example/namespaces/default/workflows/resend-${resend.id}`,
    });
    const { more, resend: begun } = await fixture.goOn(resend.id);
    expect([more, begun]).toMatchObject([false, { state: RUNNING, madeCount: 1n, openCount: 1n }]);
    const [again, ...others] = await fixture.deliverAll();
    expect(others).toEqual([]);
    expect(again).toMatchObject({ eventId: event.id, number: 1 });
    expect(again!.deliveryId).not.toBe(first!.deliveryId);
    const done = (await fixture.goOn(resend.id)).resend!;
    expect(done).toMatchObject({ state: COMPLETED, madeCount: 1n, openCount: 0n, succeededCount: 1n });
    expect(done.endedAt).toBeDefined();
    expect(await fixture.get(tenant, resend.id)).toEqual(done);
    const { deliveryId } = again!;
    const { delivery } = await fixture.deliveries.getDelivery({ ...tenant, deliveryId });
    expect(delivery).toMatchObject({
      subscriptionId,
      eventId: event.id,
      resendId: resend.id,
      ordered: false,
    });
  });

  it('starts the workflow resend-<id> with its transaction', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await fixture.subscribe(tenant);
    const event = await fixture.publish(tenant);
    await fixture.claimCommands();
    const resend = await fixture.resend(tenant, { case: 'eventId', value: event.id }, { subscriptionId });
    const commands = await fixture.claimCommands();
    const [command, ...more] = commands.filter(({ merchantId }) => merchantId === tenant.merchantId);
    expect(more).toEqual([]);
    expect(command).toMatchObject({
      kind: WorkflowCommandKind.START,
      workflowType: 'resendDeliveries',
      workflowId: `resend-${resend.id}`,
    });
    const { merchantId } = tenant;
    expect(JSON.parse(command!.argumentsJson)).toEqual([
      { resendId: resend.id, merchantId, environment: 'live', subscriptionId },
    ]);
  });

  it('sends the events of a request to every subscription to their types, even younger ones, but not to disabled ones', async () => {
    const tenant = newTenant();
    const requestId = randomUUID();
    const older = await fixture.subscribe(tenant);
    const other = await fixture.subscribe(tenant, ['refund.failed.v1']);
    const disabled = await fixture.subscribe(tenant);
    const events = [
      await fixture.publish(tenant, undefined, requestId),
      await fixture.publish(tenant, undefined, requestId),
    ];
    await fixture.publish(tenant);
    await fixture.deliverAll();
    const younger = await fixture.subscribe(tenant);
    await fixture.disable(tenant, disabled.id);
    await fixture.deliverAll();
    const resend = await fixture.resend(tenant, { case: 'requestId', value: requestId });
    expect(resend).toMatchObject({ requestId, expectedCount: 4n });
    expect(await fixture.goOn(resend.id)).toMatchObject({ more: false, resend: { madeCount: 4n } });
    const sent = (await fixture.deliverAll()).map(
      ({ eventId, subscriptionId }) => `${eventId} ${subscriptionId}`,
    );
    const expected = events.flatMap(({ id }) => [older, younger].map((to) => `${id} ${to.id}`));
    expect(sent.sort()).toEqual(expected.sort());
    expect(sent.join()).not.toContain(other.id);
    expect((await fixture.goOn(resend.id)).resend).toMatchObject({ state: COMPLETED, succeededCount: 4n });
  });

  it('sends the events published in a period, from inclusive and to exclusive, in order', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await fixture.subscribe(tenant);
    const noon = Date.now() - 60_000;
    const ids = await fixture.published(tenant, [noon - 1, noon, noon + 1, noon + 99, noon + 100]);
    await fixture.deliverAll();
    const value = fixture.period(noon, noon + 100);
    const resend = await fixture.resend(tenant, { case: 'period', value }, { subscriptionId });
    expect(resend).toMatchObject({ period: value, subscriptionId, expectedCount: 3n });
    expect(await fixture.goOn(resend.id)).toMatchObject({ more: false, resend: { madeCount: 3n } });
    const made = (await fixture.madeOf(resend.id)).map(({ event_id }) => event_id);
    expect(made).toEqual(ids.slice(1, 4));
  });

  it('sends no event published after its start, even if its period ends later', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await fixture.subscribe(tenant);
    await fixture.deliverAll();
    const [before] = await fixture.published(tenant, [Date.now() - 1_000]);
    const value = fixture.period(Date.now() - 60_000, Date.now() + 3_600_000);
    const resend = await fixture.resend(tenant, { case: 'period', value }, { subscriptionId });
    await fixture.published(tenant, [Date.now() + 5]);
    expect(await fixture.goOn(resend.id)).toMatchObject({ more: false, resend: { madeCount: 1n } });
    const made = (await fixture.madeOf(resend.id)).map(({ event_id }) => event_id);
    expect(made).toEqual([before]);
  });

  it('leaves out, if requested, events that were delivered or are in delivery', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await fixture.subscribe(tenant);
    await fixture.deliverAll();
    const [succeeded, exhausted, open, missed] = await fixture.published(
      tenant,
      [1, 2, 3, 4].map(secondsAgo),
    );
    const statuses = ['SUCCEEDED', 'EXHAUSTED', 'EXHAUSTED', 'SUCCEEDED'];
    for (const [index, eventId] of [succeeded, exhausted, exhausted, missed].entries()) {
      await fixture.ended(tenant, index === 3 ? randomUUID() : subscriptionId, eventId!, statuses[index]!);
    }
    const first = await fixture.resend(tenant, { case: 'eventId', value: open! });
    await fixture.goOn(first.id);
    const selection = { case: 'period' as const, value: fixture.period(Date.now() - 60_000, Date.now()) };
    const preview = await fixture.deliveries.previewResend({ ...tenant, selection, subscriptionId });
    const counts = { failedCount: 1n, neverSentCount: 1n, olderCount: 1n, deliveredCount: 1n, openCount: 1n };
    expect(preview).toMatchObject({ ...counts, hasMore: false });
    const failed = { subscriptionId, onlyFailed: true, skipNeverSent: true };
    const narrow = await fixture.resend(tenant, selection, failed);
    expect(narrow).toMatchObject({ onlyFailed: true, skipNeverSent: true, expectedCount: 1n });
    await fixture.cancel(tenant, narrow.id);
    const resend = await fixture.resend(tenant, selection, { subscriptionId, onlyFailed: true });
    expect(resend).toMatchObject({ onlyFailed: true, expectedCount: 2n });
    await fixture.goOn(resend.id);
    const made = (await fixture.madeOf(resend.id)).map(({ event_id }) => event_id);
    expect(made.sort()).toEqual([exhausted, missed].sort());
    await fixture.deliverAll();
  });

  it('sends exactly the events that a disabled subscription has missed, once, by their positions', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await fixture.subscribe(tenant);
    await fixture.publish(tenant);
    await fixture.deliverAll();
    const canceled = await fixture.publish(tenant);
    await fixture.disable(tenant, subscriptionId);
    const during = [await fixture.publish(tenant), await fixture.publish(tenant)];
    const { missed } = await fixture.subscriptions.reactivateWebhookSubscription({
      ...newWrite(tenant),
      subscriptionId,
    });
    await fixture.publish(tenant);
    const resendMissed = () => fixture.resend(tenant, { case: 'missed', value: missed! }, { subscriptionId });
    const resend = await resendMissed();
    expect(resend).toMatchObject({ missed, subscriptionId, onlyFailed: true, expectedCount: 3n });
    await fixture.goOn(resend.id);
    const made = (await fixture.madeOf(resend.id)).map(({ event_id }) => event_id);
    expect(made).toEqual([canceled, ...during].map(({ id }) => id));
    const preview = { ...tenant, subscriptionId, selection: { case: 'missed' as const, value: missed! } };
    expect(await fixture.deliveries.previewResend(preview)).toMatchObject({ openCount: 3n, olderCount: 0n });
    const again = await resendMissed();
    expect(again.expectedCount).toBe(0n);
    expect((await fixture.goOn(again.id)).resend).toMatchObject({ state: COMPLETED, madeCount: 0n });
    await fixture.deliverAll();
  });

  it('sends missed events once, even if they are requested twice and both resends continue at once', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await fixture.subscribe(tenant);
    await fixture.deliverAll();
    await fixture.disable(tenant, subscriptionId);
    const events = [await fixture.publish(tenant), await fixture.publish(tenant)];
    const named = { ...newWrite(tenant), subscriptionId };
    const { missed } = await fixture.subscriptions.reactivateWebhookSubscription(named);
    const selection = { case: 'missed' as const, value: missed! };
    const twice = [0, 1].map(() => fixture.resend(tenant, selection, { subscriptionId }));
    const resends = await Promise.all(twice);
    const [first, second] = resends.map(({ id }) => id) as [string, string];
    // The first waits in its transaction.
    await using holder = await openSession(harness.databaseUrl);
    await holder.query('begin; lock table webhooks.open_delivery in share mode');
    const step = fixture.goOn(first);
    await expect.poll(() => lockWaits(harness)).toHaveLength(1);
    expect(await fixture.goOn(second)).toMatchObject({ more: true, resend: { madeCount: 0n } });
    await holder.query('rollback');
    expect((await step).resend).toMatchObject({ madeCount: 2n });
    expect((await fixture.goOn(second)).resend).toMatchObject({ madeCount: 0n });
    const made = (await Promise.all(resends.map(({ id }) => fixture.madeOf(id)))).flat();
    expect(made.map(({ event_id }) => event_id)).toEqual(events.map(({ id }) => id));
    await fixture.deliverAll();
  });

  it('counts what it had not delivered as missed again when its subscription is disabled meanwhile', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await fixture.subscribe(tenant);
    await fixture.deliverAll();
    const disabledWhile = async (publish: () => Promise<unknown>) => {
      await fixture.disable(tenant, subscriptionId);
      await publish();
      const named = { ...newWrite(tenant), subscriptionId };
      const { missed } = await fixture.subscriptions.reactivateWebhookSubscription(named);
      await fixture.deliverAll();
      return missed!;
    };
    const resendOf = (value: Awaited<ReturnType<typeof disabledWhile>>) =>
      fixture.resend(tenant, { case: 'missed', value }, { subscriptionId });
    const events: { id: string }[] = [];
    const publishNext = async () => events.push(await fixture.publish(tenant));
    const first = await disabledWhile(async () => {
      for (let each = 0; each < 3; each += 1) await publishNext();
    });
    const resend = await resendOf(first);
    // One is delivered, one is canceled, and one has not been made.
    await fixture.goOn(resend.id, 1);
    await fixture.deliverAll();
    await fixture.goOn(resend.id, 1);
    const second = await disabledWhile(publishNext);
    expect(second.from).toBe(first.from);
    const again = await resendOf(second);
    expect(again.expectedCount).toBe(3n);
    await fixture.goOn(again.id);
    const made = (await fixture.madeOf(again.id)).map(({ event_id }) => event_id);
    expect(made).toEqual(events.slice(1).map(({ id }) => id));
    await fixture.deliverAll();
    for (const { id } of [resend, again]) await fixture.goOn(id);
    expect(await fixture.get(tenant, again.id)).toMatchObject({ state: COMPLETED, succeededCount: 3n });
    const earlier = { madeCount: 2n, succeededCount: 1n, canceledCount: 1n };
    expect(await fixture.get(tenant, resend.id)).toMatchObject({ state: COMPLETED, ...earlier });
    const third = await disabledWhile(publishNext);
    expect(third.from).toBeGreaterThanOrEqual(second.before);
  });

  interface Known {
    readonly tenant: TestTenant;
    /** For other types than the published events. */
    readonly subscriptionId: string;
    readonly pingId: string;
  }
  const nothing: Record<string, (known: Known) => Promise<Parameters<ResendFixture['resend']>>> = {
    'a period without events': async ({ tenant, subscriptionId }) => {
      const value = fixture.period(Date.now() - 7_200_000, Date.now() - 3_600_000);
      return [tenant, { case: 'period', value }, { subscriptionId }];
    },
    'a request without events': async ({ tenant }) => [tenant, { case: 'requestId', value: randomUUID() }],
    'an event without a subscription to its type': async ({ tenant }) => {
      const event = await fixture.publish(tenant);
      await fixture.deliverAll();
      return [tenant, { case: 'eventId', value: event.id }];
    },
    'an event to a subscription of other types': async ({ tenant, subscriptionId }) => {
      const [value] = await fixture.published(tenant, [Date.now()]);
      return [tenant, { case: 'eventId', value: value! }, { subscriptionId }];
    },
    'a ping': async ({ tenant, subscriptionId, pingId }) => [
      tenant,
      { case: 'eventId', value: pingId },
      { subscriptionId },
    ],
  };
  it.each(Object.entries(nothing))('of %s makes none, and completes', async (_name, select) => {
    const tenant = newTenant();
    const { id: subscriptionId } = await fixture.subscribe(tenant, ['refund.failed.v1']);
    const [ping] = await fixture.deliverAll();
    const resend = await fixture.resend(...(await select({ tenant, subscriptionId, pingId: ping!.eventId })));
    expect(resend).toMatchObject({ state: RUNNING, expectedCount: 0n });
    const done = await fixture.goOn(resend.id);
    expect(done).toMatchObject({ more: false, resend: { state: COMPLETED, madeCount: 0n } });
    expect(await fixture.deliverAll()).toEqual([]);
  });
});

const secondsAgo = (seconds: number) => Date.now() - seconds * 1_000;
