import { afterAll, beforeAll, expect, it } from 'vitest';
import { CrossTenantDatabase } from '../../../services/platform/database/cross-tenant-database.ts';
import { Database } from '../../../services/platform/database/database.ts';
import { DeliveryClaims } from '../../../services/webhooks/dispatch/claim-deliveries.ts';
import { newTenant, startHarness, type TestHarness } from '../../support/harness.ts';
import { type WebhooksFixture, webhooksFixture } from './webhooks-fixture.ts';

const SUBSCRIPTIONS = 250;

let harness: TestHarness;
let fixture: WebhooksFixture;
let database: Database;
beforeAll(async () => {
  harness = await startHarness({ SERVICES: 'webhooks' });
  fixture = webhooksFixture(harness, harness.transports.inProcess);
  database = await Database.open({
    ...{ url: harness.databaseUrl, poolSize: 2, preparedStatements: true, entities: [] },
  });
});
afterAll(async () => {
  await database.close();
  await harness.close();
});

/** Many subscriptions with a delivery each that waits and is not due; answers the deliveries. */
async function waitingEverywhere(): Promise<string[]> {
  await fixture.subscribe(newTenant());
  const [ping] = await fixture.claimKeys();
  const rows = await fixture.sql<{ id: string }>(
    `insert into webhooks.open_delivery
       (merchant_id, environment, id, subscription_id, event_id, event_type, object_id, sequence, request_id, ordered,
        status, attempt_count, next_attempt_at)
     select d.merchant_id, d.environment, uuidv7(), uuidv7(), d.event_id, d.event_type, d.object_id, d.sequence,
            d.request_id, false, 'PENDING', 0, now() + interval '1 hour'
       from webhooks.open_delivery d cross join generate_series(1, $2::int) as n
      where d.id = $1
     returning id`,
    [ping!.deliveryId, SUBSCRIPTIONS],
  );
  return rows.map(({ id }) => id);
}

it('visits all subscriptions, and pauses when none of them has anything to send', async () => {
  const waiting = await waitingEverywhere();
  const claims = new DeliveryClaims();
  const db = new CrossTenantDatabase(database);
  const look = () => claims.claim(db, { caller: 'worker', max: 100, firstWaits: { live: 0, test: 0 } });
  const due = waiting.at(-1)!;
  await fixture.sql('update webhooks.open_delivery set next_attempt_at = now() where id = $1', [due]);
  const found = [];
  for (let looks = 0; looks < Math.ceil(SUBSCRIPTIONS / 100); looks += 1) {
    const { deliveries, incomplete } = await look();
    expect(incomplete || deliveries.length > 0).toBe(true);
    found.push(...deliveries.map(({ id }) => id));
  }
  expect(found).toEqual([due]);
  const rests = [];
  for (let looks = 0; looks < 20; looks += 1) rests.push(!(await look()).incomplete);
  expect(rests.filter(Boolean)).toHaveLength(2);
});
