import { randomBytes } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  ServiceTokenService,
  ServiceTokenState,
} from '../../../../proto/gen/payments/servicetokens/v1/servicetokens_pb.js';
import type { TestHarness } from '../../../support/harness.ts';
import { testList } from '../../../support/list-suite.ts';
import { type ListSubject, newestFirst, placeRow, rpcPage } from '../../../support/list-walk.ts';

testList('ListServiceTokens', 'catalog', serviceTokenList, [['', 'service_token_caller']]);

/** The list of a caller's tokens, for the list suite: a caller stands for each tenant of the suite. */
function serviceTokenList(harness: TestHarness): ListSubject {
  const client = createClient(ServiceTokenService, harness.transports.inProcess);
  return {
    harness,
    direction: 'desc',
    filters: { state: { values: ['ACTIVE', 'REVOKED'] } },
    truth: `select id as key, ${newestFirst('created_at')},
        case when revoked_at is null then 'ACTIVE' else 'REVOKED' end as state
      from platform.service_token where name = 'of-' || $1 || '-' || $2`,
    async fixtureOf(tenant) {
      const name = `of-${tenant.merchantId}-${tenant.environment === Environment.LIVE ? 'live' : 'test'}`;
      return {
        tenant,
        list: ({ filters = {}, limit = 0, after = '' }) => {
          const state = ServiceTokenState[filters.state as keyof typeof ServiceTokenState];
          const page = { ...(filters.state && { state }), pageSize: limit, pageToken: after };
          const response = client.listServiceTokens({ name, ...page });
          return rpcPage(response, (answer) => answer.serviceTokens.map(({ id }) => id));
        },
        async insert(place) {
          const tokenSha256 = randomBytes(32);
          const { serviceToken } = await client.issueServiceToken({
            name,
            grants: ['refunds:read'],
            tokenSha256,
          });
          await placeRow(harness, 'platform.service_token', 'created_at', serviceToken!.id, place);
        },
        async change({ key }) {
          await client.revokeServiceToken({ serviceTokenId: key });
        },
      };
    },
  };
}
