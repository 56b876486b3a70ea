import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { newTenant, type TestHarness } from '../../support/harness.ts';
import { describeList, describePlans, startListHarness } from '../../support/list-suite.ts';
import { fundsCaller } from './funds-caller.ts';
import { saleList } from './sale-list.ts';

let harness: TestHarness;
const statements: string[] = [];
beforeAll(async () => {
  harness = await startListHarness('funds', statements);
});
afterAll(() => harness.close());

describeList('ListSales', () => saleList(harness));

describePlans(
  () => saleList(harness),
  statements,
  [
    ['', 'sale_newest'],
    ['from', 'sale_newest'],
    ['to', 'sale_newest'],
    ['status', 'sale_status'],
    ['orderId', 'sale_order'],
    ['orderNumber', 'sale_order_number'],
    ['productId', 'sale_product'],
  ],
  'funds.sale',
);

it('returns each sale like GetSale', async () => {
  const fixture = await saleList(harness).fixtureOf(newTenant());
  for (let n = 0; n < 6; n += 1) await fixture.insert(n);
  const { client, tenant } = fundsCaller(harness.transports.grpc, fixture.tenant);
  const { sales } = await client.listSales(tenant);
  expect(sales).toHaveLength(6);
  for (const listed of sales) {
    expect((await client.getSale({ ...tenant, saleId: listed.id })).sale).toEqual(listed);
  }
  const saleIds = [sales[2]!.id.toUpperCase(), newTenant().merchantId];
  expect((await client.listSales({ ...tenant, saleIds })).sales).toEqual([sales[2]]);
});

it('filters by the date of capture in São Paulo, also beyond the last day that the calendar has', async () => {
  const { client, tenant, write } = fundsCaller(harness.transports.inProcess);
  const at = (text: string) => ({ seconds: BigInt(Date.parse(text)) / 1000n });
  // Clocks went forward at midnight of 2018-11-04: the day began at 01:00, 03:00 UTC.
  const captured = [
    '2018-11-04T02:59:59Z',
    '2018-11-04T03:00:00Z',
    '2018-11-05T01:59:59Z',
    '2018-11-05T02:00:00Z',
  ];
  for (const [n, instant] of captured.entries()) {
    const sale = { saleId: `00000000-0000-4000-8000-00000000000${n}`, method: 1, grossAmountMinor: 1n };
    await client.recordSale({ ...write(), ...sale, installments: 1, occurredAt: at(instant) });
  }
  const listed = async (filter: { fromDate?: string; toDate?: string }) => {
    const { sales, timezone } = await client.listSales({ ...tenant, ...filter });
    expect(timezone).toBe('America/Sao_Paulo');
    return sales.map(({ id }) => Number(id.at(-1)));
  };
  expect(await listed({ fromDate: '2018-11-04', toDate: '2018-11-04' })).toEqual([2, 1]);
  expect(await listed({ toDate: '2018-11-03' })).toEqual([0]);
  expect(await listed({ fromDate: '2018-11-05', toDate: '9999-12-31' })).toEqual([3]);
  const turned = client.listSales({ ...tenant, fromDate: '2018-11-05', toDate: '2018-11-04' });
  await expectRefusal(turned, Code.InvalidArgument, 'INVALID_ARGUMENT', { field: 'from_date' });
});
