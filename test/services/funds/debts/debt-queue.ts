import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { FundsService } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { TestHarness } from '../../../support/harness.ts';
import { rpcPage } from '../../../support/list-walk.ts';
import type { Queue } from '../../../support/queue-suite.ts';
import { sqlOf } from '../../../support/sql.ts';
import { debtList } from './debt-list.ts';

/** The queue of debts, for the queue suite, of merchants without released funds. */
export function debtQueue(harness: TestHarness): Queue {
  const list = debtList(harness);
  return {
    table: 'funds.deduction',
    list: (transport) => createClient(FundsService, transport).listDebtQueue({}),
    subjectOf: (scopeOf) => ({
      ...list,
      async fixtureOf(tenant) {
        const client = createClient(FundsService, harness.transports.inProcess);
        return {
          ...(await list.fixtureOf(tenant)),
          list: ({ limit = 0, after = '' }) =>
            rpcPage(
              client.listDebtQueue({ ...scopeOf(tenant), pageSize: limit, pageToken: after }),
              ({ items }) => items.map(({ debt }) => debt!.sourceId),
            ),
        };
      },
    }),
    async copyRowsOf(merchantId) {
      await sqlOf(
        harness,
        `insert into funds.deduction (merchant_id, environment, source_id, amount_minor, open_debt_minor, occurred_at)
         select $1, 'live', gen_random_uuid(), 100, 100, now() from generate_series(1, 5_000)`,
        [merchantId],
      );
    },
    async addFinished() {
      await sqlOf(
        harness,
        `insert into funds.deduction (merchant_id, environment, source_id, amount_minor, open_debt_minor, occurred_at)
         select $1, 'live', gen_random_uuid(), 100, 0, now() from generate_series(1, 1000)`,
        [randomUUID()],
      );
    },
  };
}
