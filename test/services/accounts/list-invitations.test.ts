import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { DAY_MS } from '../../../services/platform/durations.ts';
import { newTenant, type TestHarness } from '../../support/harness.ts';
import { describeList, describePlans, sharedListHarness } from '../../support/list-suite.ts';
import { type ListSubject, newestFirst, planOf, rpcPage } from '../../support/list-walk.ts';
import { sqlOf } from '../../support/sql.ts';
import { accountsFixture, isRemoved } from './accounts-fixture.ts';

const START_MS = Date.now() - DAY_MS;

const { harness, statements } = sharedListHarness('accounts');

describeList('ListInvitations', () => invitationList(harness()));

describePlans(() => invitationList(harness()), statements, [['', 'invitation_newest']]);

it('reads none that were created too long ago to be open', async () => {
  statements.length = 0;
  await accountsFixture(harness().transports.inProcess).client.listInvitations(newTenant());
  expect(await planOf(harness(), statements.at(-1)!)).toMatch(/Index Cond: .*created_at > /);
});

/** The list of open invitations, for the list suite; the only change is that one is no longer open. */
function invitationList(harness: TestHarness): ListSubject {
  const { client, invite, write } = accountsFixture(harness.transports.inProcess);
  return {
    harness,
    direction: 'desc',
    filters: {},
    acrossEnvironments: true,
    truth: `select id as key, ${newestFirst('created_at')} from accounts.invitation
      where merchant_id = $1 and $2::text is not null
        and accepted_at is null and revoked_at is null and expires_at > now()`,
    async fixtureOf(tenant) {
      return {
        tenant,
        list: ({ limit = 0, after = '' }) => {
          const response = client.listInvitations({ ...tenant, pageSize: limit, pageToken: after });
          return rpcPage(response, (answer) => answer.invitations.map(({ id }) => id));
        },
        async insert(place) {
          const { id } = await invite(tenant, `${randomUUID()}@shop.example`);
          const at = new Date(START_MS + place);
          await sqlOf(harness, 'update accounts.invitation set created_at = $1 where id = $2', [at, id]);
        },
        async change({ key }, pick) {
          if (!isRemoved(pick)) return;
          if (pick % 2) await client.revokeInvitation({ ...write(tenant), invitationId: key });
          else
            await sqlOf(harness, 'update accounts.invitation set expires_at = created_at where id = $1', [
              key,
            ]);
        },
      };
    },
  };
}
