import { afterAll, expect, it } from 'vitest';
import { startHarness } from '../../../support/harness.ts';
import { planOf } from '../../../support/list-walk.ts';
import { sqlOf } from '../../../support/sql.ts';
import { fundsCaller } from '../funds-caller.ts';

const statements: string[] = [];
const harness = await startHarness({ SERVICES: 'funds' }, (sql) => statements.push(sql));
afterAll(() => harness.close());

it('finds the start of an order number in any case, by number, then newest first', async () => {
  const { client, tenant, sell } = fundsCaller(harness.transports.grpc);
  const stranger = fundsCaller(harness.transports.grpc);
  const numbers = ['r-100', 'R-10', 'R-1', 'R-2', 'AR-1', 'R%1', 'R-10', 'Ç-1', undefined];
  for (const [day, orderNumber] of numbers.entries()) {
    await sell({ on: `2020-06-1${day}`, gross: 100n, sold: orderNumber ? { orderNumber } : {} });
  }
  await stranger.sell({ on: '2020-06-16', gross: 100n, sold: { orderNumber: 'R-1' } });
  const found = async (orderNumberPrefix: string, limit = 100) => {
    const { sales, hasMore } = await client.searchSales({ ...tenant, orderNumberPrefix, limit });
    return [...sales.map((sale) => `${sale.orderNumber} ${sale.capturedAt!.seconds}`), hasMore];
  };
  const on = (orderNumber: string, day: number) =>
    `${orderNumber} ${Date.parse(`2020-06-1${day}T15:00:00Z`) / 1_000}`;
  const [one, ten, tenBefore, hundred] = [on('R-1', 2), on('R-10', 6), on('R-10', 1), on('r-100', 0)];
  expect(await found('r-1')).toEqual([one, ten, tenBefore, hundred, false]);
  expect(await found('R-1', 2)).toEqual([one, ten, true]);
  expect(await found('R-10', 3)).toEqual([ten, tenBefore, hundred, false]);
  expect(await found('R%')).toEqual([on('R%1', 5), false]);
  expect(await found('Ç')).toEqual([on('Ç-1', 7), false]);
  expect(await found('R_')).toEqual([false]);
});

it('reads only the index entries that it returns, however many sales match', async () => {
  const { client, tenant, sell } = fundsCaller(harness.transports.inProcess);
  const { saleId } = await sell({ gross: 100n, sold: { orderNumber: 'R-1' } });
  await sqlOf(
    harness,
    `insert into funds.sale
     select (jsonb_populate_record(sale, jsonb_build_object('id', gen_random_uuid(), 'order_number', 'R-1' || n))).*
       from funds.sale as sale, generate_series(1, 5000) as n where sale.id = $1`,
    [saleId],
  );
  await sqlOf(harness, 'analyze funds.sale');
  statements.length = 0;
  const { sales } = await client.searchSales({ ...tenant, orderNumberPrefix: 'r-1', limit: 2 });
  expect(sales.map(({ orderNumber }) => orderNumber)).toEqual(['R-1', 'R-11']);
  expect(statements).toHaveLength(1);
  const plan = await planOf(harness, statements[0]!);
  expect(plan).toMatch(/using sale_order_number on sale.*\n.*Index Cond: .*lower\(order_number\).*>=.*<.*\n/);
  expect(plan).not.toMatch(/\bSort {2}\(|Filter: .*order_number/);
});
