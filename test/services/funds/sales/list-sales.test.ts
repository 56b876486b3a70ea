import { randomUUID } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { SaleStatus } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { newTenant, type TestHarness } from '../../../support/harness.ts';
import { testList } from '../../../support/list-suite.ts';
import { type ListFilters, type ListSubject, newestFirst, rpcPage } from '../../../support/list-walk.ts';
import { fundsCaller } from '../funds-caller.ts';

const harness = testList(
  'ListSales',
  'funds',
  saleList,
  [
    ['', 'sale_newest'],
    ['from', 'sale_newest'],
    ['to', 'sale_newest'],
    ['status', 'sale_status'],
    ['orderId', 'sale_order'],
    ['orderNumber', 'sale_order_number'],
    ['productId', 'sale_product'],
    ['customerReference', 'sale_customer'],
    ['productId status', 'sale_product_status'],
  ],
  'funds.sale',
);

it('returns each sale like GetSale', async () => {
  const fixture = await saleList(harness()).fixtureOf(newTenant());
  for (let n = 0; n < 6; n += 1) await fixture.insert(n);
  const { client, tenant } = fundsCaller(harness().transports.grpc, fixture.tenant);
  const { sales } = await client.listSales(tenant);
  expect(sales).toHaveLength(6);
  for (const listed of sales) {
    expect((await client.getSale({ ...tenant, saleId: listed.id })).sale).toEqual(listed);
  }
  const saleIds = [sales[2]!.id.toUpperCase(), newTenant().merchantId];
  expect((await client.listSales({ ...tenant, saleIds })).sales).toEqual([sales[2]]);
});

it('filters by the date of capture in São Paulo, also beyond the last day that the calendar has', async () => {
  const { client, tenant, write } = fundsCaller(harness().transports.inProcess);
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

const SOLD = ['2020-06-16', '2020-06-17', '2020-06-18', '2020-06-19', '2020-06-20', '2020-06-22'];
const ORDER = { orderId: randomUUID(), orderNumber: 'R-10482' };
const PRODUCT = randomUUID();
const CUSTOMER = 'cliente nº 7 <a@b.example>';

/** The list of sales, for the list suite. */
function saleList(harness: TestHarness): ListSubject {
  return {
    harness,
    direction: 'desc',
    filters: {
      from: { values: ['2020-06-17'], fits: ({ date }, from) => date! >= from },
      to: { values: ['2020-06-20'], fits: ({ date }, to) => date! <= to },
      orderId: { values: [ORDER.orderId], isId: true },
      orderNumber: { values: [ORDER.orderNumber] },
      productId: { values: [PRODUCT], isId: true },
      customerReference: { values: [CUSTOMER] },
      status: { values: ['BLOCKED', 'SCHEDULED'] },
    },
    truth: `select id as key, ${newestFirst('captured_at')}, status, order_id as "orderId", order_number as "orderNumber",
        product_id as "productId", customer_reference as "customerReference", (captured_at at time zone 'America/Sao_Paulo')::date::text as date
      from funds.sale where merchant_id = $1 and environment = $2`,
    async fixtureOf(tenant) {
      const { client, sell, block, unblock, releaseDue } = fundsCaller(harness.transports.inProcess, tenant);
      let recorded = 0;
      return {
        tenant,
        list: ({ filters = {}, limit = 0, after = '' }) => {
          const request = { ...tenant, ...requestOf(filters), pageSize: limit, pageToken: after };
          return rpcPage(client.listSales(request), ({ sales }) => sales.map(({ id }) => id));
        },
        async insert(place) {
          const n = recorded++;
          const instant = n % 5 === 4;
          const { saleId } = await sell({
            on: SOLD[place],
            gross: 1_000n,
            instant,
            installments: instant ? 1 : 2,
            sold: {
              ...(n % 3 !== 0 && ORDER),
              ...(n % 2 && { productId: PRODUCT }),
              ...(n % 4 < 2 && { customerReference: CUSTOMER }),
            },
          });
          if (n % 5 === 3) await block(saleId, saleId);
        },
        async change({ key, status }, pick) {
          if (status === 'BLOCKED') await unblock(key, key);
          else if (pick % 4 === 0) await releaseDue('2020-07-20');
          else await block(key, key);
        },
      };
    },
  };
}

function requestOf({ from, to, status, ...sold }: ListFilters) {
  return {
    ...sold,
    fromDate: from,
    toDate: to,
    status: status && SaleStatus[status as keyof typeof SaleStatus],
  } as { fromDate?: string; toDate?: string; status?: SaleStatus };
}
