import { expect, it } from 'vitest';
import { AttemptFailure, DeliveryStatus } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { timestampOf } from '../../../../services/platform/timestamps.ts';
import { newTenant } from '../../../support/harness.ts';
import { answered, inFlight, reportOf, startWebhooks } from './attempts-fixture.ts';

const { RETRYING, SUCCEEDED } = DeliveryStatus;

const { fixture, attempts } = await startWebhooks();

const inMs = (ms: number) => new Date(Date.now() + ms);
/** The end of an attempt that is recorded as in flight may be reported by anyone. */
const late = <Report extends object>(report: Report) => ({ ...report, owner: undefined });

/** A delivery whose first attempt is recorded as in flight without a result, and whose second is due. */
async function startOverlappingAttempts() {
  const tenant = newTenant();
  const { merchantId } = tenant;
  await fixture.subscribe(tenant);
  await attempts.answerAll(200, merchantId);
  await fixture.publish(tenant);
  const [first] = await attempts.due(merchantId);
  const { deliveryId } = first!;
  await attempts.record(inFlight(first!, inMs(-15_000)));
  const next = async () => {
    await fixture.sql(
      `update webhooks.open_delivery set requested = true, in_flight_until = null, next_attempt_at = now() where id = $1`,
      [deliveryId],
    );
    return (await attempts.due(merchantId))[0]!;
  };
  const second = await next();
  expect(second.number).toBe(2);
  const read = () => fixture.deliveries.getDelivery({ ...tenant, deliveryId });
  return { first: first!, second, next, read };
}

it('the end of an attempt that was followed by another is recorded without changing the delivery', async () => {
  const { first, second, next, read } = await startOverlappingAttempts();
  await attempts.record(answered(second, 503));
  const { delivery } = await read();
  expect(delivery).toMatchObject({ status: RETRYING, attemptCount: 2 });
  await attempts.record(late(reportOf(first, { endedAt: inMs(0), latencyMs: 15_000, failure: 'TIMEOUT' })));
  const after = await read();
  expect(after.delivery).toEqual(delivery);
  expect(after.attempts).toMatchObject([
    { number: 1, failure: AttemptFailure.TIMEOUT },
    { number: 2, httpStatus: 503 },
  ]);
  await attempts.record(answered(await next(), 200));
  const { delivery: ended, attempts: made } = await read();
  expect(ended).toMatchObject({ status: SUCCEEDED, attemptCount: 3 });
  expect(made.map(({ number }) => number)).toEqual([1, 2, 3]);
});

it('a late success ends the delivery, and counts all its attempts', async () => {
  const { first, second, read } = await startOverlappingAttempts();
  await attempts.record(answered(second, 503));
  await attempts.record(late(answered(first, 200)));
  expect((await read()).delivery).toMatchObject({ status: SUCCEEDED, attemptCount: 2 });
});

it('the end of an attempt after the success of the next one does not change the count', async () => {
  const { first, second, read } = await startOverlappingAttempts();
  await attempts.record(answered(second, 200));
  await attempts.record(late(answered(first, 500)));
  const { delivery, attempts: made } = await read();
  expect(delivery).toMatchObject({ status: SUCCEEDED, attemptCount: 2 });
  expect(made).toMatchObject([
    { number: 1, httpStatus: 500 },
    { number: 2, httpStatus: 200 },
  ]);
});

it('an attempt that two processes sent gets the start of the one that reports its end', async () => {
  const { second, read } = await startOverlappingAttempts();
  await attempts.record(inFlight(second, inMs(-1_000)));
  const startedAt = inMs(-9_000);
  await attempts.record(late({ ...answered(second, 503), startedAt }));
  expect((await read()).attempts).toMatchObject([
    { number: 1 },
    { number: 2, startedAt: timestampOf(startedAt), httpStatus: 503 },
  ]);
});
