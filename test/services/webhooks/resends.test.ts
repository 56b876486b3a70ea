import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type AttemptSend,
  ResendState,
  WorkflowCommandKind,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newTenant, startHouse, type TestHouse } from '../../support/house.ts';
import { FRUITLESS, type ResendDesk, resendDesk } from './resend-desk.ts';

const { RUNNING, COMPLETED } = ResendState;

let house: TestHouse;
beforeAll(async () => {
  house = await startHouse({ SERVICES: 'webhooks', TEMPORAL_UI_URL: 'https://temporal.example/' });
});
afterAll(() => house.close());

describe.each(['inProcess', 'grpc'] as const)('a resend over %s', (way) => {
  let desk: ResendDesk;
  beforeEach(async () => {
    desk = resendDesk(house, house.transports[way]);
    await desk.deliverAll();
  });

  it('delivers an event once more, under its own webhook-id, by a delivery of its own', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await desk.subscribe(tenant);
    const event = await desk.publish(tenant);
    const [first] = (await desk.deliverAll()).filter(({ send }) => send.eventId === event.id);
    const resend = await desk.resend(tenant, { case: 'eventId', value: event.id });
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
    const { more, resend: begun } = await desk.goOn(resend.id);
    expect([more, begun]).toMatchObject([false, { state: RUNNING, madeCount: 1n, openCount: 1n }]);
    const [again, ...others] = await desk.deliverAll();
    expect(others).toEqual([]);
    expect(again!.send).toMatchObject({ eventId: event.id, attemptNumber: 1 });
    expect(textOf(again!.send)).toBe(textOf(first!.send));
    expect(again!.deliveryId).not.toBe(first!.deliveryId);
    const done = (await desk.goOn(resend.id)).resend!;
    expect(done).toMatchObject({ state: COMPLETED, madeCount: 1n, openCount: 0n, succeededCount: 1n });
    expect(done.endedAt).toBeDefined();
    expect(await desk.get(tenant, resend.id)).toEqual(done);
    const { deliveryId } = again!;
    const { delivery } = await desk.deliveries.getDelivery({ ...tenant, deliveryId });
    expect(delivery).toMatchObject({
      subscriptionId,
      eventId: event.id,
      resendId: resend.id,
      ordered: false,
    });
  });

  it('starts the workflow resend-<id> with its transaction', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await desk.subscribe(tenant);
    const event = await desk.publish(tenant);
    await desk.claimCommands();
    const resend = await desk.resend(tenant, { case: 'eventId', value: event.id }, { subscriptionId });
    const [command, ...more] = await desk.claimCommands();
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

  it('takes the events of a request to every subscription of their types, also younger and disabled ones aside', async () => {
    const tenant = newTenant();
    const requestId = randomUUID();
    const older = await desk.subscribe(tenant);
    const other = await desk.subscribe(tenant, ['refund.failed.v1']);
    const disabled = await desk.subscribe(tenant);
    const events = [
      await desk.publish(tenant, undefined, requestId),
      await desk.publish(tenant, undefined, requestId),
    ];
    await desk.publish(tenant);
    await desk.deliverAll();
    const younger = await desk.subscribe(tenant);
    await desk.disable(tenant, disabled.id);
    await desk.deliverAll();
    const resend = await desk.resend(tenant, { case: 'requestId', value: requestId });
    expect(resend).toMatchObject({ requestId, expectedCount: 4n });
    expect(await desk.goOn(resend.id)).toMatchObject({ more: false, resend: { madeCount: 4n } });
    const sent = (await desk.deliverAll()).map(({ send }) => `${send.eventId} ${send.subscriptionId}`);
    const expected = events.flatMap(({ id }) => [older, younger].map((to) => `${id} ${to.id}`));
    expect(sent.sort()).toEqual(expected.sort());
    expect(sent.join()).not.toContain(other.id);
    expect((await desk.goOn(resend.id)).resend).toMatchObject({ state: COMPLETED, succeededCount: 4n });
  });

  it('takes the events published in a period, from inclusive and to exclusive, in their order', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await desk.subscribe(tenant);
    const noon = Date.now() - 60_000;
    const ids = await desk.published(tenant, [noon - 1, noon, noon + 1, noon + 99, noon + 100]);
    await desk.deliverAll();
    const value = desk.period(noon, noon + 100);
    const resend = await desk.resend(tenant, { case: 'period', value }, { subscriptionId });
    expect(resend).toMatchObject({ period: value, subscriptionId, expectedCount: 3n });
    expect(await desk.goOn(resend.id)).toMatchObject({ more: false, resend: { madeCount: 3n } });
    const made = (await desk.madeOf(resend.id)).map(({ event_id }) => event_id);
    expect(made).toEqual(ids.slice(1, 4));
  });

  it('takes none that is published after it has begun, also in a period that goes on', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await desk.subscribe(tenant);
    await desk.deliverAll();
    const [before] = await desk.published(tenant, [Date.now() - 1_000]);
    const value = desk.period(Date.now() - 60_000, Date.now() + 3_600_000);
    const resend = await desk.resend(tenant, { case: 'period', value }, { subscriptionId });
    await desk.published(tenant, [Date.now() + 5]);
    expect(await desk.goOn(resend.id)).toMatchObject({ more: false, resend: { madeCount: 1n } });
    const made = (await desk.madeOf(resend.id)).map(({ event_id }) => event_id);
    expect(made).toEqual([before]);
  });

  it('leaves out, if so asked, what the subscription has got or is getting', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await desk.subscribe(tenant);
    await desk.deliverAll();
    const [succeeded, exhausted, open, missed] = await desk.published(tenant, [1, 2, 3, 4].map(secondsAgo));
    const statuses = ['SUCCEEDED', 'EXHAUSTED', 'EXHAUSTED', 'SUCCEEDED'];
    for (const [index, eventId] of [succeeded, exhausted, exhausted, missed].entries()) {
      await desk.ended(tenant, index === 3 ? randomUUID() : subscriptionId, eventId!, statuses[index]!);
    }
    const first = await desk.resend(tenant, { case: 'eventId', value: open! });
    await desk.goOn(first.id);
    const value = desk.period(Date.now() - 60_000, Date.now());
    const resend = await desk.resend(tenant, { case: 'period', value }, { subscriptionId, onlyFailed: true });
    expect(resend).toMatchObject({ onlyFailed: true, expectedCount: 2n });
    await desk.goOn(resend.id);
    const made = (await desk.madeOf(resend.id)).map(({ event_id }) => event_id);
    expect(made.sort()).toEqual([exhausted, missed].sort());
    await desk.deliverAll();
  });

  it('waits for an event that is still in the outbox, and passes none over', async () => {
    const tenant = newTenant();
    const { id: subscriptionId } = await desk.subscribe(tenant);
    await desk.deliverAll();
    const [before] = await desk.published(tenant, [secondsAgo(3)]);
    const waiting = await desk.publish(tenant);
    await delay(2);
    // As dispatch takes them: not always in their order.
    const [after] = await desk.published(tenant, [Date.now()]);
    const value = desk.period(Date.now() - 60_000, Date.now() + 1);
    const resend = await desk.resend(tenant, { case: 'period', value }, { subscriptionId });
    expect(resend.expectedCount).toBe(3n);
    const ofEvent = await desk.resend(tenant, { case: 'eventId', value: waiting.id });
    expect(await desk.goOn(resend.id)).toMatchObject({ more: true, resend: { madeCount: 1n } });
    const none = { madeCount: 0n, state: RUNNING };
    expect(await desk.goOn(ofEvent.id)).toMatchObject({ more: true, resend: none });
    await desk.deliverAll();
    expect(await desk.goOn(ofEvent.id)).toMatchObject({ more: false, resend: { madeCount: 1n } });
    expect(await desk.goOn(resend.id)).toMatchObject({ more: false, resend: { madeCount: 3n } });
    const made = (await desk.madeOf(resend.id)).map(({ event_id }) => event_id);
    expect(made).toEqual([before, waiting.id, after]);
    await desk.deliverAll();
    expect((await desk.goOn(resend.id)).resend).toMatchObject({ state: COMPLETED, succeededCount: 3n });
  });

  it.each(Object.entries(FRUITLESS))('of %s makes none, and completes', async (_name, selected) => {
    const tenant = newTenant();
    const { id: subscriptionId } = await desk.subscribe(tenant, ['refund.failed.v1']);
    const [ping] = await desk.deliverAll();
    const { selection, terms } = await selected(desk, tenant, { subscriptionId, pingId: ping!.send.eventId });
    const resend = await desk.resend(tenant, selection, terms);
    expect(resend).toMatchObject({ state: RUNNING, expectedCount: 0n });
    const done = await desk.goOn(resend.id);
    expect(done).toMatchObject({ more: false, resend: { state: COMPLETED, madeCount: 0n } });
    expect(await desk.deliverAll()).toEqual([]);
  });
});

const textOf = ({ body }: AttemptSend) => new TextDecoder().decode(body);
const secondsAgo = (seconds: number) => Date.now() - seconds * 1_000;
