import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { AttemptFailure, DeliveryStatus } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { timestampOf } from '../../../services/platform/timestamps.ts';
import {
  createTestDatabase,
  emptyDatabase,
  newTenant,
  startHarness,
  type TestHarness,
} from '../../support/harness.ts';
import { answered, type WebhooksFixture, webhooksFixture } from './webhooks-fixture.ts';

const { RETRYING, SUCCEEDED } = DeliveryStatus;

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

const inMs = (ms: number) => timestampOf(new Date(Date.now() + ms));

/** A delivery whose first attempt was handed over and has not been heard of, and whose second is to be sent. */
async function overtaken() {
  const tenant = newTenant();
  await fixture.subscribe(tenant);
  const [ping] = await fixture.claimKeys();
  await fixture.report(answered(ping!.deliveryId, await fixture.send(ping!), 200));
  await fixture.publish(tenant);
  const [key] = await fixture.claimKeys();
  const { deliveryId } = key!;
  const first = await fixture.send(key!);
  const { attemptNumber, generation } = first;
  const times = { startedAt: inMs(-15_000), deadlineAt: inMs(60_000) };
  await fixture.report({ deliveryId, attemptNumber, generation, stillRunning: true, ...times });
  await fixture.sql(
    `update webhooks.open_delivery set status = 'PENDING', in_flight_since = null, in_flight_until = null, next_attempt_at = now()
      where id = $1`,
    [deliveryId],
  );
  const [again] = await fixture.claimKeys();
  const second = await fixture.send(again!);
  expect(second.attemptNumber).toBe(2);
  const read = () => fixture.deliveries.getDelivery({ ...tenant, deliveryId });
  return { deliveryId, first, second, read };
}

it('the end of an attempt that another has followed is written down, and changes nothing else', async () => {
  const { deliveryId, first, second, read } = await overtaken();
  await fixture.report(answered(deliveryId, second, 503));
  const { delivery } = await read();
  expect(delivery).toMatchObject({ status: RETRYING, attemptCount: 2 });
  const [outcome] = await fixture.report({
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
  await fixture.sql(`update webhooks.open_delivery set next_attempt_at = now() where id = $1`, [deliveryId]);
  const third = await fixture.send({ deliveryId });
  await fixture.report(answered(deliveryId, third, 200));
  const { delivery: ended, attempts } = await read();
  expect(ended).toMatchObject({ status: SUCCEEDED, attemptCount: 3 });
  expect(attempts.map(({ number }) => number)).toEqual([1, 2, 3]);
});

it('a success that comes late ends the delivery, and counts all its attempts', async () => {
  const { deliveryId, first, second, read } = await overtaken();
  await fixture.report(answered(deliveryId, second, 503));
  await fixture.report(answered(deliveryId, first, 200));
  expect((await read()).delivery).toMatchObject({ status: SUCCEEDED, attemptCount: 2 });
});

it('the end of an attempt that comes after the success of the next leaves the count', async () => {
  const { deliveryId, first, second, read } = await overtaken();
  await fixture.report(answered(deliveryId, second, 200));
  await fixture.report(answered(deliveryId, first, 500));
  const { delivery, attempts } = await read();
  expect(delivery).toMatchObject({ status: SUCCEEDED, attemptCount: 2 });
  expect(attempts).toMatchObject([
    { number: 1, httpStatus: 500 },
    { number: 2, httpStatus: 200 },
  ]);
});

it('an attempt that two workers have sent starts when the one that reports its end sent it', async () => {
  const { deliveryId, second, read } = await overtaken();
  const { attemptNumber, generation } = second;
  const attempt = { deliveryId, attemptNumber, generation };
  await fixture.report({ ...attempt, stillRunning: true, startedAt: inMs(-1_000), deadlineAt: inMs(60_000) });
  const startedAt = inMs(-9_000);
  await fixture.report({ ...attempt, startedAt, latencyMs: 200, httpStatus: 503 });
  expect((await read()).attempts).toMatchObject([{ number: 1 }, { number: 2, startedAt, httpStatus: 503 }]);
});
