import { afterEach, beforeEach, expect, it } from 'vitest';
import { AttemptFailure, DeliveryStatus } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { timestampOf } from '../../../services/platform/timestamps.ts';
import { newTenant, startHouse, type TestHouse } from '../../support/house.ts';
import { answered, type WebhooksDesk, webhooksDesk } from './webhooks-desk.ts';

const { RETRYING, SUCCEEDED } = DeliveryStatus;

let house: TestHouse;
let desk: WebhooksDesk;
beforeEach(async () => {
  house = await startHouse({ SERVICES: 'webhooks' });
  desk = webhooksDesk(house, house.transports.inProcess);
});
afterEach(() => house.close());

const inMs = (ms: number) => timestampOf(new Date(Date.now() + ms));

/** A delivery whose first attempt was handed over and has not been heard of, and whose second is to be sent. */
async function overtaken() {
  const tenant = newTenant();
  await desk.subscribe(tenant);
  const [ping] = await desk.claimKeys();
  await desk.report(answered(ping!.deliveryId, await desk.send(ping!), 200));
  await desk.publish(tenant);
  const [key] = await desk.claimKeys();
  const { deliveryId } = key!;
  const first = await desk.send(key!);
  const { attemptNumber, generation } = first;
  const times = { startedAt: inMs(-15_000), deadlineAt: inMs(60_000) };
  await desk.report({ deliveryId, attemptNumber, generation, stillRunning: true, ...times });
  await desk.sql(
    `update webhooks.open_delivery set status = 'PENDING', busy_since = null, busy_until = null, next_attempt_at = now()
      where id = $1`,
    [deliveryId],
  );
  const [again] = await desk.claimKeys();
  const second = await desk.send(again!);
  expect(second.attemptNumber).toBe(2);
  const read = () => desk.deliveries.getDelivery({ ...tenant, deliveryId });
  return { deliveryId, first, second, read };
}

it('the end of an attempt that another has followed is written down, and changes nothing else', async () => {
  const { deliveryId, first, second, read } = await overtaken();
  await desk.report(answered(deliveryId, second, 503));
  const { delivery } = await read();
  expect(delivery).toMatchObject({ status: RETRYING, attemptCount: 2 });
  const [outcome] = await desk.report({
    ...{ deliveryId, attemptNumber: first.attemptNumber, generation: first.generation },
    ...{ startedAt: inMs(-15_000), latencyMs: 15_000, failure: AttemptFailure.TIMEOUT },
  });
  expect(outcome).toMatchObject({ status: RETRYING, nextAttemptAt: delivery!.nextAttemptAt });
  const after = await read();
  expect(after.delivery).toEqual(delivery);
  expect(after.attempts).toMatchObject([
    { number: 1, failure: AttemptFailure.TIMEOUT },
    { number: 2, httpStatus: 503 },
  ]);
  await desk.sql(`update webhooks.open_delivery set next_attempt_at = now() where id = $1`, [deliveryId]);
  const third = await desk.send({ deliveryId });
  await desk.report(answered(deliveryId, third, 200));
  const { delivery: ended, attempts } = await read();
  expect(ended).toMatchObject({ status: SUCCEEDED, attemptCount: 3 });
  expect(attempts.map(({ number }) => number)).toEqual([1, 2, 3]);
});

it('a success that comes late ends the delivery, and counts all its attempts', async () => {
  const { deliveryId, first, second, read } = await overtaken();
  await desk.report(answered(deliveryId, second, 503));
  await desk.report(answered(deliveryId, first, 200));
  expect((await read()).delivery).toMatchObject({ status: SUCCEEDED, attemptCount: 2 });
});

it('the end of an attempt that comes after the success of the next leaves the count', async () => {
  const { deliveryId, first, second, read } = await overtaken();
  await desk.report(answered(deliveryId, second, 200));
  await desk.report(answered(deliveryId, first, 500));
  const { delivery, attempts } = await read();
  expect(delivery).toMatchObject({ status: SUCCEEDED, attemptCount: 2 });
  expect(attempts).toMatchObject([
    { number: 1, httpStatus: 500 },
    { number: 2, httpStatus: 200 },
  ]);
});
