import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { DeliveryStatus } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { endDeliveries } from '../../../../services/webhooks/deliveries/end-deliveries.sql.ts';
import { newTenant } from '../../../support/harness.ts';
import { describeList, describePlans, sharedListHarness } from '../../../support/list-suite.ts';
import { planOf } from '../../../support/list-walk.ts';
import { sqlOf } from '../../../support/sql.ts';
import { webhooksFixture } from '../webhooks-fixture.ts';
import { deliveryList } from './delivery-list.ts';

const { harness, statements } = sharedListHarness('webhooks');

describeList('ListDeliveries by what they go to', () => deliveryList(harness(), 'goal'));
describeList('ListDeliveries by what caused them', () => deliveryList(harness(), 'cause'));
describeList('ListDeliveries by what they are about', () => deliveryList(harness(), 'object'));

const ended = (columns: string) =>
  String.raw`ended_delivery_live_\d+_merchant_id_environment_${columns}_idx\d*`;

describePlans(
  () => deliveryList(harness(), 'goal'),
  statements,
  [
    ['', 'open_delivery_newest'],
    ['', ended('id')],
    ['subscriptionId', 'open_delivery_subscription'],
    ['subscriptionId', ended('subscr')],
  ],
  'webhooks.open_delivery',
);

describePlans(() => deliveryList(harness(), 'cause'), statements, [
  ['eventType', ended('event')],
  ['resendId', 'open_delivery_resend'],
  ['resendId', ended('resend')],
  ['createdFrom', ended('id')],
]);

it('searches two hundred deliveries, then a thousand a page, when filters have no index together', async () => {
  const tenant = newTenant();
  const subscriptionId = randomUUID();
  await sqlOf(
    harness(),
    `insert into webhooks.open_delivery (merchant_id, environment, id, subscription_id, lane, event_id, event_type,
       object_id, sequence, request_id, ordered, status, attempt_count, next_attempt_at)
     select $1, 'live', ('01900000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $2, webhooks.lane_of($2),
       gen_random_uuid(), case n when 1 then 'sought' else 'other' end, 'object', n, 'request', true,
       case n when 1 then 'BLOCKED' else 'HELD' end, 0, now() from generate_series(1, 1_201) n`,
    [tenant.merchantId, subscriptionId],
  );
  const { deliveries } = webhooksFixture(harness(), harness().transports.inProcess);
  const list = (filters: object) => deliveries.listDeliveries({ ...tenant, ...filters });
  const sought = [{ eventType: 'sought', status: DeliveryStatus.BLOCKED }];

  const searches = [
    { filters: { eventType: 'sought' }, found: sought },
    { filters: { eventType: 'sought', subscriptionId }, found: sought },
    { filters: { status: DeliveryStatus.PENDING }, found: [] },
  ];
  for (const { filters, found } of searches) {
    let pageToken = '';
    for (const deliveries of [[], [], found]) {
      const page = await list({ ...filters, pageToken });
      expect(page).toMatchObject({ deliveries });
      pageToken = page.nextPageToken;
    }
    expect(pageToken).toBe('');
  }
  // Few deliveries have this status, whose index is searched.
  const status = DeliveryStatus.BLOCKED;
  for (const filters of [
    { status, subscriptionId },
    { status, eventType: 'sought' },
  ]) {
    expect(await list(filters)).toMatchObject({ deliveries: sought, nextPageToken: '' });
  }
});

it.each([
  ['', 'environment'],
  ['subscriptionId', 'subscription_id'],
  ['resendId', 'resend_id'],
])('orders deliveries filtered by "%s" so that only the index by %s fits', async (filter, column) => {
  statements.length = 0;
  const { deliveries } = webhooksFixture(harness(), harness().transports.inProcess);
  await deliveries.listDeliveries({ ...newTenant(), ...(filter && { [filter]: randomUUID() }) });
  const order = `Sort Key: open_delivery.${column} DESC, open_delivery.id DESC`;
  expect(await planOf(harness(), statements.at(-1)!)).toContain(order);
});

it('searches only the deliveries of the merchant, where most are of another', async () => {
  const tenant = newTenant();
  await sqlOf(
    harness(),
    `insert into webhooks.open_delivery (merchant_id, environment, id, subscription_id, lane, event_id, event_type,
       object_id, sequence, request_id, ordered, status, attempt_count, next_attempt_at)
     select case n % 100 when 1 then $1::uuid else $2 end, 'live', uuidv7(n * interval '-1 second'), $2, 1, $2, 'other', 'object', n,
       'request', false, 'HELD', 0, now()
       from generate_series(1, 30_000) n`,
    [tenant.merchantId, randomUUID()],
  );
  await sqlOf(harness(), 'analyze webhooks.open_delivery');
  statements.length = 0;
  const { deliveries } = webhooksFixture(harness(), harness().transports.inProcess);
  await deliveries.listDeliveries({ ...tenant, eventType: 'sought', status: DeliveryStatus.HELD });
  const plan = await sqlOf(harness(), `explain (generic_plan) ${statements.at(-1)}`);
  expect(JSON.stringify(plan)).toContain('open_delivery_newest');
});

it('finds every delivery once by filters without an index together, also while deliveries end between its pages', async () => {
  const tenant = newTenant();
  const subscriptionId = randomUUID();
  await sqlOf(harness(), `select webhooks.ensure_partitions('live', now() - interval '1 hour', now())`);
  await sqlOf(
    harness(),
    `insert into webhooks.open_delivery (merchant_id, environment, id, subscription_id, lane, event_id, event_type,
       object_id, sequence, request_id, ordered, status, attempt_count, next_attempt_at)
     select $1, 'live', uuidv7(n * interval '-1 second'), goal, webhooks.lane_of(goal), gen_random_uuid(),
       case n % 25 when 0 then 'sought' else 'other' end, 'object', n, 'request', false,
       case n % 7 when 1 then 'HELD' else 'PENDING' end, 0, now()
       from generate_series(1, 3_599) n cross join lateral (
         select case n % 4 when 1 then gen_random_uuid() else $2::uuid end as goal) goals`,
    [tenant.merchantId, subscriptionId],
  );
  const which = `using (select id from webhooks.open_delivery where merchant_id = $1 order by random() limit $2) picked
    where d.id = picked.id`;
  const ending = `with ${endDeliveries(which, { status: `'SUCCEEDED'`, endedAt: 'now()' })} select from ended`;
  const end = (count: number) => sqlOf(harness(), ending, [tenant.merchantId, count]);
  const { deliveries } = webhooksFixture(harness(), harness().transports.inProcess);
  const found = async (filters: object, pageSize: number, afterPage?: () => Promise<unknown>) => {
    const ids: string[] = [];
    let pageToken = '';
    do {
      const page = await deliveries.listDeliveries({ ...tenant, ...filters, pageSize, pageToken });
      ids.push(...page.deliveries.map(({ id }) => id));
      pageToken = page.nextPageToken;
      await afterPage?.();
    } while (pageToken !== '');
    return ids;
  };
  const matching = async (condition: string) => {
    const ids = `select id from webhooks.delivery where merchant_id = $1 and event_type = 'sought' and ${condition} order by id desc`;
    const rows = await sqlOf<{ id: string }>(harness(), ids, [tenant.merchantId]);
    return rows.map(({ id }) => id);
  };
  const eventType = 'sought';
  const goes = `subscription_id = '${subscriptionId}'`;
  // A page of several steps, each of which ends with a delivery that matches.
  const pending = { eventType, status: DeliveryStatus.PENDING };
  expect(await found(pending, 100)).toEqual(await matching(`status = 'PENDING'`));
  await end(1_800);
  const endSome = () => end(50);
  expect(await found({ eventType }, 10, endSome)).toEqual(await matching('true'));
  expect(await found({ eventType, subscriptionId }, 10, endSome)).toEqual(await matching(goes));
  for (const status of ['PENDING', 'HELD', 'SUCCEEDED'] as const) {
    const filters = { eventType, subscriptionId, status: DeliveryStatus[status] };
    expect(await found(filters, 10)).toEqual(await matching(`${goes} and status = '${status}'`));
  }
});
