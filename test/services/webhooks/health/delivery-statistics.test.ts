import { timestampDate } from '@bufbuild/protobuf/wkt';
import { afterAll, expect, it } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { HOUR_MS } from '../../../../services/platform/durations.ts';
import { newTenant, type TestTenant } from '../../../support/harness.ts';
import { planOf } from '../../../support/list-walk.ts';
import { eventually, startLanesFixture } from '../lanes/lanes-fixture.ts';

const statements: string[] = [];
const webhooks = await startLanesFixture({}, (sql) => statements.push(sql));
afterAll(() => webhooks[Symbol.asyncDispose]());

const hoursOf = async (tenant: TestTenant) => (await webhooks.deliveries.getDeliveryStatistics(tenant)).hours;
const slot = (subscriptionId: string, minutesAgo: number, failed: number) =>
  webhooks.sql(
    `insert into webhooks.endpoint_slot
       (merchant_id, environment, subscription_id, generation, starts_at, succeeded, failed, latencies)
     select merchant_id, environment, $1, 7, date_trunc('hour', now(), 'UTC') - make_interval(mins => $2), 0, $3, '{}'
       from webhooks.subscription where id = $1`,
    [subscriptionId, minutesAgo, failed],
  );

it('counts the attempts of a merchant by hour, including those to former URLs', async () => {
  const tenant = newTenant(Environment.TEST);
  const [one, two] = [await webhooks.subscribed(tenant), await webhooks.subscribed(tenant)];
  const stranger = newTenant(Environment.TEST);
  await webhooks.subscribed(stranger);
  one.endpoint.answer(500);
  await webhooks.publish(tenant);
  // Two pings and an event before the first retry.
  const now = async () => {
    const counted = (await hoursOf(tenant)).slice(-2);
    return counted.reduce((sum, { delivered, failed }) => [sum[0]! + delivered, sum[1]! + failed], [0n, 0n]);
  };
  await eventually(async () => {
    const [delivered, failed] = await now();
    expect(delivered).toBe(3n);
    expect(failed).toBeGreaterThanOrEqual(1n);
  });
  await slot(one.id, 23 * 60, 11);
  await slot(two.id, 22 * 60 + 5, 13);
  await slot(two.id, 23 * 60 + 5, 17);
  const hours = await hoursOf(tenant);
  expect(hours).toHaveLength(24);
  const starts = hours.map(({ startsAt }) => timestampDate(startsAt!).getTime());
  expect(starts.every((start, n) => start % HOUR_MS === 0 && start === starts[0]! + n * HOUR_MS)).toBe(true);
  expect(Date.now() - starts[23]!).toBeLessThan(2 * HOUR_MS);
  expect(hours.slice(0, 2).map(({ failed }) => failed)).toEqual([24n, 0n]);
  expect((await hoursOf(stranger)).reduce((sum, { delivered }) => sum + delivered, 0n)).toBe(1n);
  const live = { ...tenant, environment: Environment.LIVE };
  expect((await hoursOf(live)).every(({ delivered, failed }) => delivered + failed === 0n)).toBe(true);
});

it('reads only the counts of one merchant, by their key', async () => {
  const tenant = newTenant(Environment.TEST);
  await hoursOf(tenant);
  const statement = statements.findLast((sql) => sql.includes('webhooks.endpoint_slot e'))!;
  const plan = await planOf(webhooks.harness, statement);
  expect(plan).toMatch(/using endpoint_slot_pkey.*\n\s+Index Cond: \(\(merchant_id = .*environment = /);
  expect(plan).not.toMatch(/Seq Scan|Filter: .*merchant_id/);
});
