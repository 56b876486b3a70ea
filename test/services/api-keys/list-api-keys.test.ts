import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import {
  ApiKeyScope,
  ApiKeyService,
  ApiKeyState,
} from '../../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { newTenant, newWrite, type TestHarness } from '../../support/harness.ts';
import { testList } from '../../support/list-suite.ts';
import { type ListSubject, newestFirst, placeRow, rpcPage } from '../../support/list-walk.ts';
import { sqlOf } from '../../support/sql.ts';

const harness = testList('ListApiKeys', 'api-keys', apiKeyList, [
  ['', 'api_key_newest'],
  ['state', 'api_key_newest'],
]);

it('searches two hundred keys, then a thousand a page, for those in a state', async () => {
  const tenant = newTenant();
  const [active] = await sqlOf<{ id: string }>(
    harness(),
    `with added as (
       insert into api_keys.api_key
         (merchant_id, environment, id, name, hint, scopes, key_hash, pepper_version, created_at, expires_at)
       select $1, 'live', uuidv7(), 'Web shop', 'pk', '{REFUNDS_READ}', sha256(gen_random_uuid()::text::bytea), 1,
              timestamptz '2020-01-01' + interval '1 ms' * n, case when n > 1 then now() end
         from generate_series(1, 1_201) n
       returning id, expires_at)
     select id from added where expires_at is null`,
    [tenant.merchantId],
  );
  const apiKeys = createClient(ApiKeyService, harness().transports.inProcess);
  const list = (pageToken = '') => apiKeys.listApiKeys({ ...tenant, state: ApiKeyState.ACTIVE, pageToken });
  let nextPageToken = '';
  for (const apiKeys of [[], [], [{ id: active!.id }]]) {
    const page = await list(nextPageToken);
    expect(page).toMatchObject({ apiKeys });
    ({ nextPageToken } = page);
  }
  expect(nextPageToken).toBe('');
});

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
