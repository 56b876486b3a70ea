import { afterEach, beforeEach, expect, it } from 'vitest';
import { newTenant, startHarness, type TestHarness } from '../../support/harness.ts';
import { answered, type WebhooksFixture, webhooksFixture } from './webhooks-fixture.ts';

let harness: TestHarness;
let fixture: WebhooksFixture;
beforeEach(async () => {
  harness = await startHarness({ SERVICES: 'webhooks' });
  fixture = webhooksFixture(harness, harness.transports.inProcess);
});
afterEach(() => harness.close());

const LOOKED_AT = 100;

it('releases what is due, however many subscriptions hold what is due in hours', async () => {
  const tenant = newTenant();
  const { id } = await fixture.subscribe(tenant);
  const [key] = await fixture.claimKeys();
  await fixture.report(answered(key!.deliveryId, await fixture.send(key!), 200));
  await fixture.publish(tenant);
  const [held] = await fixture.claimKeys();
  await fixture.sql(
    `with others as (
       insert into webhooks.subscription
         (merchant_id, environment, id, url, unique_url, event_types, state, generation, created_at, enabled_at, holding,
          ordered)
       select s.merchant_id, s.environment, uuidv7(), s.url || n, s.unique_url || n, s.event_types, 'ACTIVE', 1,
              s.created_at, s.enabled_at, true, false
         from webhooks.subscription s cross join generate_series(1, $2::int) as n
        where s.id = $1
       returning id
     )
     insert into webhooks.open_delivery
       (merchant_id, environment, id, subscription_id, event_id, event_type, object_id, sequence, request_id, ordered,
        status, attempt_count, next_attempt_at)
     select d.merchant_id, d.environment, uuidv7(), o.id, d.event_id, d.event_type, d.object_id, d.sequence,
            d.request_id, false, 'HELD', 3, now() + interval '5 hours'
       from webhooks.open_delivery d cross join others o
      where d.id = $3`,
    [id, LOOKED_AT, held!.deliveryId],
  );
  await fixture.sql(`update webhooks.subscription set holding = true, probe_at = now() where id = $1`, [id]);
  await fixture.sql(
    `update webhooks.open_delivery set status = 'HELD', batch_id = null, in_flight_since = null, in_flight_until = null
      where id = $1`,
    [held!.deliveryId],
  );
  const { batches } = await fixture.claim(100, 2_500);
  expect(batches.flatMap(({ deliveryIds }) => deliveryIds)).toEqual([held!.deliveryId]);
});
