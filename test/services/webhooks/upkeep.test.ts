import { afterEach, beforeEach, expect, it } from 'vitest';
import { timestampOf } from '../../../services/platform/timestamps.ts';
import { newTenant, startHarness, type TestHarness } from '../../support/harness.ts';
import { answered, type WebhooksFixture, webhooksFixture } from './webhooks-fixture.ts';

let harness: TestHarness;
let fixture: WebhooksFixture;
beforeEach(async () => {
  harness = await startHarness({ SERVICES: 'webhooks' });
  fixture = webhooksFixture(harness, harness.transports.inProcess);
});
afterEach(() => harness.close());

const idsOf = (batches: readonly { deliveryIds: string[] }[]) =>
  batches.flatMap(({ deliveryIds }) => deliveryIds);

it('hands out again what was lost, and releases what is held, though lost attempts cannot be closed', async () => {
  const tenant = newTenant();
  await fixture.subscribe(tenant);
  const [ping] = await fixture.claimKeys();
  await fixture.report(answered(ping!.deliveryId, await fixture.send(ping!), 200));
  for (let n = 0; n < 4; n += 1) await fixture.publish(tenant);
  const [unheard, held, lost, retried] = await fixture.claimKeys();
  const { attemptNumber, generation } = await fixture.send(unheard!);
  const long = timestampOf(new Date(Date.now() - 60_000));
  await fixture.report({
    ...{ deliveryId: unheard!.deliveryId, attemptNumber, generation },
    ...{ startedAt: long, stillRunning: true, deadlineAt: long },
  });
  await fixture.report(answered(retried!.deliveryId, await fixture.send(retried!), 500));
  await fixture.sql(`
    create function public.refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
    create trigger refuse before update on webhooks.attempt for each row execute function public.refuse();
    update webhooks.subscription set holding = true;
    update webhooks.batch set leased_until = now() - interval '1 second';`);
  await fixture.sql(
    `update webhooks.open_delivery set status = 'HELD', batch_id = null, in_flight_since = null, in_flight_until = null
      where id = $1`,
    [held!.deliveryId],
  );
  await fixture.sql(
    `update webhooks.open_delivery set next_attempt_at = now() - interval '3 minutes' where id = $1`,
    [retried!.deliveryId],
  );
  const again = await fixture.claim(100, 3_000);
  expect(idsOf(again.batches)).toEqual([lost!.deliveryId]);
  expect(again.retries.map(({ deliveryId }) => deliveryId)).toEqual([retried!.deliveryId]);
  expect(idsOf((await fixture.claim(100, 3_000)).batches)).toEqual([held!.deliveryId]);
});
