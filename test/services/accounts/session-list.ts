import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import type { TestHouse } from '../../support/house.ts';
import { type ListSubject, newestFirst, placeRow, rpcPage } from '../../support/list-walk.ts';
import { accountsDesk, newPerson, takesAway } from './accounts-desk.ts';

/** The list of an account's open sessions, for the suite of lists: an account stands for each tenant of the suite. */
export function sessionList(house: TestHouse): ListSubject {
  const { client, signIn } = accountsDesk(house.transports.inProcess);
  return {
    ...{ house, direction: 'desc', maxLimit: 100, maxTokenLength: 200, filters: {} },
    truth: `select id as key, ${newestFirst('created_at')} from accounts.session
      where ended_at is null
        and account_id = (select id from accounts.account where subject = $1 || ' ' || $2)`,
    async deskOf(tenant) {
      const environment = tenant.environment === Environment.LIVE ? 'live' : 'test';
      const person = { ...newPerson(), subject: `${tenant.merchantId} ${environment}` };
      const { accountId, sessionId } = await signIn(person);
      await client.endSession({ accountId, sessionId });
      return {
        tenant,
        list: ({ limit = 0, after = '' }) => {
          const asked = client.listSessions({ accountId, pageSize: limit, pageToken: after });
          return rpcPage(asked, (answer) => answer.sessions.map(({ id }) => id));
        },
        async insert(place) {
          const session = await signIn(person);
          await placeRow(house, 'accounts.session', 'created_at', session.sessionId, place);
        },
        async change({ key }, pick) {
          if (takesAway(pick)) await client.endSession({ accountId, sessionId: key });
        },
      };
    },
  };
}
