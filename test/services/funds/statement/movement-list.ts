import { randomUUID } from 'node:crypto';
import type { TestHarness } from '../../../support/harness.ts';
import { type ListSubject, newestFirst, rpcPage } from '../../../support/list-walk.ts';
import { fundsCaller } from '../funds-caller.ts';

const DATES = ['2020-06-16', '2020-06-17', '2020-06-18', '2020-06-19', '2020-06-20', '2020-06-22'];

const SALE_ID = randomUUID();

/** The statement, for the list suite: its rows never change. */
export function movementList(harness: TestHarness): ListSubject {
  return {
    harness,
    direction: 'asc',
    filters: {
      from: { values: ['2020-06-17'], fits: ({ date }, from) => date! >= from },
      to: { values: ['2020-06-20'], fits: ({ date }, to) => date! <= to },
    },
    truth: `select id as key, ${newestFirst('occurred_at')},
        (occurred_at at time zone 'America/Sao_Paulo')::date::text as date
      from funds.movement where merchant_id = $1 and environment = $2`,
    async fixtureOf(tenant) {
      const { client, deduct } = fundsCaller(harness.transports.inProcess, tenant);
      return {
        tenant,
        list: ({ filters: { from, to } = {}, limit = 0, after = '' }) => {
          const range = { ...(from && { fromDate: from }), ...(to && { toDate: to }) };
          const request = { ...tenant, ...range, pageSize: limit, pageToken: after };
          return rpcPage(client.listMovements(request), ({ movements }) => movements.map(({ id }) => id));
        },
        async insert(place) {
          await deduct(1n, undefined, DATES[place]);
        },
        change: () => Promise.resolve(),
      };
    },
  };
}

/** The movements of a sale, one in four of its merchant's, for the list suite: its rows never change. */
export function saleMovementList(harness: TestHarness): ListSubject {
  return {
    harness,
    direction: 'asc',
    filters: {},
    truth: `select id as key, ${newestFirst('occurred_at')}
      from funds.movement where merchant_id = $1 and environment = $2 and sale_id = '${SALE_ID}'`,
    fixtureOf(tenant) {
      const { client, sell, deduct } = fundsCaller(harness.transports.inProcess, tenant);
      let isSold = false;
      return Promise.resolve({
        tenant,
        list: ({ limit = 0, after = '' }) => {
          const request = { ...tenant, saleId: SALE_ID, pageSize: limit, pageToken: after };
          return rpcPage(client.listSaleMovements(request), ({ movements }) => movements.map(({ id }) => id));
        },
        async insert(place) {
          const on = DATES[place];
          if (isSold) await deduct(1n, SALE_ID, on);
          else await sell({ on, gross: 1_000n, saleId: SALE_ID });
          isSold = true;
          for (let n = 0; n < 3; n += 1) await deduct(1n, undefined, on);
        },
        change: () => Promise.resolve(),
      });
    },
  };
}
