import { randomUUID } from 'node:crypto';
import { FundsReleaseStatus } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { TestHarness } from '../../../support/harness.ts';
import { type ListFilters, type ListSubject, rpcPage } from '../../../support/list-walk.ts';
import { sqlOf } from '../../../support/sql.ts';
import { fundsCaller } from '../funds-caller.ts';

const SOLD = ['2020-06-16', '2020-06-17', '2020-06-18', '2020-06-19', '2020-06-20', '2020-06-22'];
const INSTALLMENTS = [2, 12, 1, 4];
const DATES = ['2020-06-16', '2020-07-20', '2020-08-17', '2020-12-31'];

/**
 * The list of releases, for the list suite: its rows are sums, which appear and disappear with their installments.
 */
export function releaseList(harness: TestHarness): ListSubject {
  return {
    harness,
    direction: 'asc',
    filters: {
      from: { values: DATES, fits: ({ date }, from) => date! >= from },
      to: { values: DATES, fits: ({ date }, to) => date! <= to },
      status: { values: ['BLOCKED', 'RELEASED', 'SCHEDULED'] },
    },
    refuses: ({ from, to }) => from !== undefined && to !== undefined && from > to,
    truth: `select distinct date || ' ' || status as key, date || ' ' || status as "order", date::text, status
      from funds.installment where merchant_id = $1 and environment = $2`,
    async fixtureOf(tenant) {
      const { client, sell, block, unblock, deduct, releaseDue } = fundsCaller(
        harness.transports.inProcess,
        tenant,
      );
      let sold = 0;
      return {
        tenant,
        list: ({ filters = {}, limit = 0, after = '' }) => {
          const request = { ...tenant, ...requestOf(filters), pageSize: limit, pageToken: after };
          return rpcPage(client.listFundsReleases(request), ({ releases }) =>
            releases.map(({ date, status }) => `${date} ${FundsReleaseStatus[status]}`),
          );
        },
        async insert(place) {
          const installments = INSTALLMENTS[Math.floor(sold++ / SOLD.length) % INSTALLMENTS.length]!;
          await sell({ on: SOLD[place], gross: 1_000n, installments, instant: installments === 1 });
        },
        async change({ date, status }, pick) {
          const [installment] = await sqlOf<{ sale_id: string; source_id: string | null }>(
            harness,
            `select installment.sale_id, block.source_id from funds.installment
               left join funds.block on block.sale_id = installment.sale_id and closed_at is null
              where installment.merchant_id = $1 and installment.environment = 'live' and date = $2 and status = $3 limit 1`,
            [tenant.merchantId, date, status],
          );
          if (installment!.source_id) await unblock(installment!.sale_id, installment!.source_id);
          else if (pick % 3 === 0) await releaseDue(date!);
          else if (pick % 3 === 1) await deduct(100n, installment!.sale_id);
          else await block(installment!.sale_id, randomUUID());
        },
      };
    },
  };
}

function requestOf({ from, to, status }: ListFilters) {
  return {
    fromDate: from,
    toDate: to,
    status: status && FundsReleaseStatus[status as keyof typeof FundsReleaseStatus],
  } as { fromDate?: string; toDate?: string; status?: FundsReleaseStatus };
}
