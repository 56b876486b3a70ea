import { randomUUID } from 'node:crypto';
import type { TestHarness } from '../../../support/harness.ts';
import { type ListSubject, rpcPage } from '../../../support/list-walk.ts';
import { sqlOf } from '../../../support/sql.ts';
import { fundsCaller } from '../funds-caller.ts';

const START_MS = Date.UTC(2020, 0, 1);

/** The list of open debts, for the list suite: debts that are paid in full leave it. */
export function debtList(harness: TestHarness): ListSubject {
  return {
    harness,
    direction: 'asc',
    filters: {},
    truth: `select source_id as key,
        to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS') || ' ' || source_id as "order"
      from funds.deduction where merchant_id = $1 and environment = $2 and open_debt_minor > 0`,
    async fixtureOf(tenant) {
      const { client, write, sell } = fundsCaller(harness.transports.inProcess, tenant);
      return {
        tenant,
        list: ({ limit = 0, after = '' }) => {
          const response = client.listDebts({ ...tenant, pageSize: limit, pageToken: after });
          return rpcPage(response, ({ debts }) => debts.map(({ sourceId }) => sourceId));
        },
        async insert(place) {
          const sourceId = randomUUID();
          await client.applyDeduction({ ...write('2020-01-01'), sourceId, amountMinor: 100n });
          const at = new Date(START_MS + place);
          await sqlOf(harness, 'update funds.deduction set occurred_at = $1 where source_id = $2', [
            at,
            sourceId,
          ]);
        },
        /** A sale pays the oldest debt, or most of it. */
        async change() {
          await sell({ on: '2020-01-01', gross: 90n });
        },
      };
    },
  };
}
