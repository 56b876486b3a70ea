import { afterAll, beforeAll, expect, it } from 'vitest';
import { newTenant, startHouse, type TestHouse } from '../../support/house.ts';
import { resendDesk } from './resend-desk.ts';

const DAY_MS = 86_400_000;
const EVENTS = 20_000;
const FAILED = 7;

let house: TestHouse;
let desk: ReturnType<typeof resendDesk>;
beforeAll(async () => {
  house = await startHouse({ SERVICES: 'webhooks' });
  desk = resendDesk(house, house.transports.inProcess);
});
afterAll(() => house.close());

it('finds what failed among thousands of deliveries', async () => {
  const tenant = newTenant();
  const { id: subscriptionId } = await desk.subscribe(tenant);
  await desk.deliverAll();
  await desk.sql(`select webhooks.ensure_partitions('live', now() - interval '11 days', now())`);
  await desk.sql(
    `insert into webhooks.event
     select $1::uuid, 'live', uuidv7(interval '-10 days' + n * interval '1 ms'), 'payment.succeeded.v1', n::text, 1,
            'request', now(), '{}'
       from generate_series(1, $2::int) as n`,
    [tenant.merchantId, EVENTS],
  );
  await desk.sql(
    `insert into webhooks.ended_delivery
     select merchant_id, environment, id, $1::uuid, id, type, object_id, sequence, request_id, null, false,
            case when object_id::int > $2 then 'EXHAUSTED' else 'SUCCEEDED' end, 1, now(), null
       from webhooks.event
      where merchant_id = $3 and type <> 'webhook.ping.v1'`,
    [subscriptionId, EVENTS - FAILED, tenant.merchantId],
  );
  await desk.sql('analyze webhooks.event, webhooks.ended_delivery');
  const period = desk.period(Date.now() - 11 * DAY_MS, Date.now() - DAY_MS);
  const terms = { subscriptionId, onlyFailed: true };
  const resend = await desk.resend(tenant, { case: 'period', value: period }, terms);
  expect(resend.expectedCount).toBe(BigInt(FAILED));
  for (let more = true; more; ) ({ more } = await desk.goOn(resend.id));
  expect(await desk.get(tenant, resend.id)).toMatchObject({ madeCount: BigInt(FAILED) });
});

it('counts no less than it has made', async () => {
  const tenant = newTenant();
  await desk.subscribe(tenant);
  const { id: eventId } = await desk.publish(tenant);
  const resend = await desk.resend(tenant, { case: 'eventId', value: eventId });
  await desk.sql('update webhooks.resend set expected_count = 0 where id = $1', [resend.id]);
  await desk.deliverAll();
  const { resend: goneOn } = await desk.goOn(resend.id);
  expect(goneOn).toMatchObject({ expectedCount: 1n, madeCount: 1n });
});
