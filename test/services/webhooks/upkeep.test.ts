import { afterEach, beforeEach, expect, it } from 'vitest';
import { timestampOf } from '../../../services/platform/timestamps.ts';
import { newTenant, startHouse, type TestHouse } from '../../support/house.ts';
import { answered, type WebhooksDesk, webhooksDesk } from './webhooks-desk.ts';

let house: TestHouse;
let desk: WebhooksDesk;
beforeEach(async () => {
  house = await startHouse({ SERVICES: 'webhooks' });
  desk = webhooksDesk(house, house.transports.inProcess);
});
afterEach(() => house.close());

const idsOf = (batches: readonly { deliveryIds: string[] }[]) =>
  batches.flatMap(({ deliveryIds }) => deliveryIds);

it('hands out again what was lost, and releases what is held, though lost attempts cannot be closed', async () => {
  const tenant = newTenant();
  await desk.subscribe(tenant);
  const [ping] = await desk.claimKeys();
  await desk.report(answered(ping!.deliveryId, await desk.send(ping!), 200));
  for (let n = 0; n < 4; n += 1) await desk.publish(tenant);
  const [unheard, held, lost, retried] = await desk.claimKeys();
  const { attemptNumber, generation } = await desk.send(unheard!);
  const long = timestampOf(new Date(Date.now() - 60_000));
  await desk.report({
    ...{ deliveryId: unheard!.deliveryId, attemptNumber, generation },
    ...{ startedAt: long, stillRunning: true, deadlineAt: long },
  });
  await desk.report(answered(retried!.deliveryId, await desk.send(retried!), 500));
  await desk.sql(`
    create function public.refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
    create trigger refuse before update on webhooks.attempt for each row execute function public.refuse();
    update webhooks.subscription set holding = true;
    update webhooks.batch set leased_until = now() - interval '1 second';`);
  await desk.sql(
    `update webhooks.open_delivery set status = 'HELD', batch_id = null, busy_since = null, busy_until = null
      where id = $1`,
    [held!.deliveryId],
  );
  await desk.sql(
    `update webhooks.open_delivery set next_attempt_at = now() - interval '3 minutes' where id = $1`,
    [retried!.deliveryId],
  );
  const again = await desk.claim(100, 3_000);
  expect(idsOf(again.batches)).toEqual([lost!.deliveryId]);
  expect(again.retries.map(({ deliveryId }) => deliveryId)).toEqual([retried!.deliveryId]);
  expect(idsOf((await desk.claim(100, 3_000)).batches)).toEqual([held!.deliveryId]);
});
