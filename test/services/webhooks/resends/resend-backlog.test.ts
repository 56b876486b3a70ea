import { expect, it } from 'vitest';
import { DAY_MS } from '../../../../services/platform/durations.ts';
import { newTenant } from '../../../support/harness.ts';
import { startWebhooks } from '../attempts/attempts-fixture.ts';
import { resendFixture } from './resend-fixture.ts';

/** More than the 10,000 events that a preview counts. */
const EVENTS = 11_000;
const FAILED = 7;

const { harness, attempts } = await startWebhooks();
const fixture = resendFixture(harness, harness.transports.inProcess, attempts);

it('finds failures among thousands of deliveries', async () => {
  const tenant = newTenant();
  const { id: subscriptionId } = await fixture.subscribe(tenant);
  await fixture.deliverAll();
  await fixture.sql(`select webhooks.ensure_partitions('live', now() - interval '11 days', now())`);
  await fixture.sql(
    `insert into webhooks.event
     select $1::uuid, 'live', uuidv7(interval '-10 days' + n * interval '1 ms'), 'payment.succeeded.v1', n::text, 1,
            'request', now(), '{}'
       from generate_series(1, $2::int) as n`,
    [tenant.merchantId, EVENTS],
  );
  await fixture.sql(
    `insert into webhooks.ended_delivery
     select merchant_id, environment, id, $1::uuid, id, type, object_id, sequence, request_id, null, false,
            case when object_id::int > $2 then 'EXHAUSTED' else 'SUCCEEDED' end, 1, now(), null
       from webhooks.event
      where merchant_id = $3 and type <> 'webhook.ping.v1'`,
    [subscriptionId, EVENTS - FAILED, tenant.merchantId],
  );
  await fixture.sql('analyze webhooks.event, webhooks.ended_delivery');
  const period = fixture.period(Date.now() - 11 * DAY_MS, Date.now() - DAY_MS);
  const selection = { case: 'period' as const, value: period };
  expect(await fixture.deliveries.previewResend({ ...tenant, selection, subscriptionId })).toMatchObject({
    deliveredCount: 10_000n,
    failedCount: 0n,
    hasMore: true,
  });
  const terms = { subscriptionId, onlyFailed: true };
  const resend = await fixture.resend(tenant, { case: 'period', value: period }, terms);
  expect(resend.expectedCount).toBe(BigInt(FAILED));
  for (let more = true; more; ) ({ more } = await fixture.goOn(resend.id));
  expect(await fixture.get(tenant, resend.id)).toMatchObject({ madeCount: BigInt(FAILED) });
});

it('never expects fewer deliveries than it has created', async () => {
  const tenant = newTenant();
  await fixture.subscribe(tenant);
  const { id: eventId } = await fixture.publish(tenant);
  const resend = await fixture.resend(tenant, { case: 'eventId', value: eventId });
  await fixture.sql('update webhooks.resend set expected_count = 0 where id = $1', [resend.id]);
  await fixture.deliverAll();
  const { resend: goneOn } = await fixture.goOn(resend.id);
  expect(goneOn).toMatchObject({ expectedCount: 1n, madeCount: 1n });
});
