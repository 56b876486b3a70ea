import { randomUUID } from 'node:crypto';
import { SaleStatus } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { TestHarness } from '../../support/harness.ts';
import { type ListFilters, type ListSubject, newestFirst, rpcPage } from '../../support/list-walk.ts';
import { fundsCaller } from './funds-caller.ts';

const SOLD = ['2020-06-16', '2020-06-17', '2020-06-18', '2020-06-19', '2020-06-20', '2020-06-22'];
const ORDER = { orderId: randomUUID(), orderNumber: 'R-10482' };
const PRODUCT = randomUUID();

/** The list of sales, for the list suite. */
export function saleList(harness: TestHarness): ListSubject {
  return {
    harness,
    direction: 'desc',
    maxLimit: 100,
    maxTokenLength: 256,
    filters: {
      from: { values: ['2020-06-17'], fits: ({ date }, from) => date! >= from },
      to: { values: ['2020-06-20'], fits: ({ date }, to) => date! <= to },
      orderId: { values: [ORDER.orderId], isId: true },
      orderNumber: { values: [ORDER.orderNumber] },
      productId: { values: [PRODUCT], isId: true },
      status: { values: ['BLOCKED', 'SCHEDULED'] },
    },
    truth: `select id as key, ${newestFirst('captured_at')}, status, order_id as "orderId", order_number as "orderNumber",
        product_id as "productId", (captured_at at time zone 'America/Sao_Paulo')::date::text as date
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
            sold: { ...(n % 3 !== 0 && ORDER), ...(n % 2 && { productId: PRODUCT }) },
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
