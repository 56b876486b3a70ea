import { randomUUID } from 'node:crypto';
import { FundsReleaseStatus } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { TestHarness } from '../../../support/harness.ts';
import { type ListSubject, rpcPage } from '../../../support/list-walk.ts';
import { fundsCaller } from '../funds-caller.ts';

const SOLD = '2020-06-20';
/** Of the sales' installment. */
export const DUE = '2020-07-20';

const STATUSES = ['BLOCKED', 'RELEASED', 'SCHEDULED'] as const;

/** The list of the sales behind a day, for the list suite; the filter selects one of its rows: plans are of the first status. */
export function releaseSaleList(
  harness: TestHarness,
  statuses: readonly (typeof STATUSES)[number][] = STATUSES,
): ListSubject {
  return {
    harness,
    direction: 'asc',
    filters: {
      status: {
        values: statuses,
        fits: ({ statuses }, status) => statuses!.includes(status),
      },
    },
    truth: `select sale_id as key, sale_id::text as "order", string_agg(status, ' ') as statuses
      from funds.installment where merchant_id = $1 and environment = $2 and date = '${DUE}' group by sale_id`,
    async fixtureOf(tenant) {
      const { client, sell, block, unblock, releaseDue } = fundsCaller(harness.transports.inProcess, tenant);
      return {
        tenant,
        list: ({ filters = {}, limit = 0, after = '' }) => {
          const status = FundsReleaseStatus[filters.status as keyof typeof FundsReleaseStatus];
          const request = { ...tenant, date: DUE, ...(filters.status && { status }) };
          const response = client.listReleaseSales({ ...request, pageSize: limit, pageToken: after });
          return rpcPage(response, ({ sales }) => sales.map(({ sale }) => sale!.id));
        },
        async insert(place) {
          const saleId = `${place}${randomUUID().slice(1)}`;
          await sell({ on: SOLD, gross: 1_000n, installments: place % 2 ? 1 : 3, saleId });
        },
        /** Holds of a portion split the installment over two rows. */
        async change({ key, statuses }, pick) {
          if (statuses!.includes('BLOCKED')) await unblock(key, key);
          else if (pick % 4 === 0) await releaseDue(DUE);
          else await block(key, key, undefined, undefined, pick % 4 === 1 ? undefined : 700n);
        },
      };
    },
  };
}
