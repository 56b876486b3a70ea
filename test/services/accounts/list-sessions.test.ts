import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import type { TestHarness } from '../../support/harness.ts';
import { testList } from '../../support/list-suite.ts';
import { type ListSubject, newestFirst, placeRow, rpcPage } from '../../support/list-walk.ts';
import { accountsFixture, isRemoved, newPerson } from './accounts-fixture.ts';

testList('ListSessions', 'accounts', sessionList, [['', 'session_newest']]);

/** The list of an account's open sessions, for the list suite: an account stands for each tenant of the suite. */
function sessionList(harness: TestHarness): ListSubject {
  const { client, signIn } = accountsFixture(harness.transports.inProcess);
  return {
    harness,
    direction: 'desc',
    filters: {},
    truth: `select id as key, ${newestFirst('created_at')} from accounts.session
      where ended_at is null
        and account_id = (select id from accounts.account where subject = $1 || ' ' || $2)`,
    async fixtureOf(tenant) {
      const environment = tenant.environment === Environment.LIVE ? 'live' : 'test';
      const person = { ...newPerson(), subject: `${tenant.merchantId} ${environment}` };
      const { accountId, sessionId } = await signIn(person);
      await client.endSession({ accountId, sessionId });
      return {
        tenant,
        list: ({ limit = 0, after = '' }) => {
          const response = client.listSessions({ accountId, pageSize: limit, pageToken: after });
          return rpcPage(response, (answer) => answer.sessions.map(({ id }) => id));
        },
        async insert(place) {
          const session = await signIn(person);
          await placeRow(harness, 'accounts.session', 'created_at', session.sessionId, place);
        },
        async change({ key }, pick) {
          if (isRemoved(pick)) await client.endSession({ accountId, sessionId: key });
        },
      };
    },
  };
}
