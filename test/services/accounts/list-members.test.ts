import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { TestHarness } from '../../support/harness.ts';
import { testList } from '../../support/list-suite.ts';
import { type ListSubject, rpcPage } from '../../support/list-walk.ts';
import { sqlOf } from '../../support/sql.ts';
import { accountsFixture, isRemoved } from './accounts-fixture.ts';

testList('ListMembers', 'accounts', memberList, [['', 'member_oldest']]);

const START_MS = Date.UTC(2020, 0, 1);

/** The list of members, for the list suite. */
function memberList(harness: TestHarness): ListSubject {
  const { client, join, change, remove } = accountsFixture(harness.transports.inProcess);
  return {
    harness,
    direction: 'asc',
    filters: {},
    acrossEnvironments: true,
    truth: `select account_id as key,
        to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS') || ' ' || account_id as "order"
      from accounts.member where merchant_id = $1 and $2::text is not null`,
    async fixtureOf(tenant) {
      return {
        tenant,
        list: ({ limit = 0, after = '' }) => {
          const response = client.listMembers({ ...tenant, pageSize: limit, pageToken: after });
          return rpcPage(response, (answer) => answer.members.map(({ account }) => account!.id));
        },
        async insert(place) {
          const { accountId } = await join(tenant, Role.VIEWER);
          const at = new Date(START_MS + place);
          const { merchantId } = tenant;
          await sqlOf(
            harness,
            'update accounts.member set created_at = $1 where merchant_id = $2 and account_id = $3',
            [at, merchantId, accountId],
          );
        },
        async change({ key }, pick) {
          if (isRemoved(pick)) await remove(tenant, key);
          else await change(tenant, key, pick % 2 ? Role.VIEWER : Role.DEVELOPER);
        },
      };
    },
  };
}
