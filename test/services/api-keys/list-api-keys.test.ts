import { createClient } from '@connectrpc/connect';
import {
  ApiKeyScope,
  ApiKeyService,
  ApiKeyState,
} from '../../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { newWrite, type TestHarness } from '../../support/harness.ts';
import { testList } from '../../support/list-suite.ts';
import { type ListSubject, newestFirst, placeRow, rpcPage } from '../../support/list-walk.ts';

testList('ListApiKeys', 'api-keys', apiKeyList, [['', 'api_key_newest']]);

/** The list of API keys, for the list suite. */
function apiKeyList(harness: TestHarness): ListSubject {
  const apiKeys = createClient(ApiKeyService, harness.transports.inProcess);
  return {
    harness,
    direction: 'desc',
    filters: { state: { values: ['ACTIVE', 'REVOKED'] } },
    truth: `select id as key, ${newestFirst('created_at')},
        case when revoked_at is null then 'ACTIVE' else 'REVOKED' end as state
      from api_keys.api_key where merchant_id = $1 and environment = $2`,
    async fixtureOf(tenant) {
      const write = () => newWrite(tenant);
      return {
        tenant,
        list: ({ filters = {}, limit = 0, after = '' }) => {
          const state = ApiKeyState[filters.state as keyof typeof ApiKeyState];
          const page = { ...(filters.state && { state }), pageSize: limit, pageToken: after };
          const response = apiKeys.listApiKeys({ ...tenant, ...page });
          return rpcPage(response, (answer) => answer.apiKeys.map(({ id }) => id));
        },
        async insert(place) {
          const scopes = [ApiKeyScope.REFUNDS_READ];
          const { apiKey } = await apiKeys.issueApiKey({ ...write(), name: 'Web shop', scopes });
          await placeRow(harness, 'api_keys.api_key', 'created_at', apiKey!.id, place);
        },
        async change({ key }) {
          await apiKeys.revokeApiKey({ ...write(), apiKeyId: key });
        },
      };
    },
  };
}
