import { CREDENTIAL_STATE, type CredentialState } from '../platform/credential-lifetime.ts';
import {
  inOrder,
  inSearch,
  type ListOrder,
  type PageRange,
  type SearchRange,
} from '../platform/reads/list-order.ts';
import type { Search } from '../platform/reads/pagination.ts';
import { prepareRead, type ReadParameters } from '../platform/reads/prepared-read.ts';
import { queryBuilder } from '../platform/reads/query-builder.ts';
import type { ReadTable } from '../platform/reads/read-table.ts';
import type { Tenant } from '../platform/tenant.ts';
import type { ApiKeyEntity } from './api-key.entity.ts';

type ApiKeyTable = ReadTable<typeof ApiKeyEntity>;

/** An API key as hot reads return it, without its hash and its notices. */
export type ApiKeyReadRow = Omit<ApiKeyTable, 'key_hash' | 'pepper_version' | 'expiry_notice_days'>;

const db = queryBuilder<{ 'api_keys.api_key': ApiKeyTable }>();

const apiKeys = () =>
  db
    .selectFrom('api_keys.api_key')
    .select(['merchant_id', 'environment', 'id', 'name', 'hint', 'scopes'])
    .select(['created_at', 'expires_at', 'rotated_at', 'revoked_at', 'last_used_at']);

/** API keys are listed newest first. */
export const apiKeyOrder: ListOrder<ApiKeyReadRow> = { columns: ['created_at', 'id'], direction: 'desc' };

const apiKeysOf = (parameters: ReadParameters<Tenant>) =>
  apiKeys()
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'));

/** A page of a merchant's API keys in list order. */
export const selectApiKeys = prepareRead<Tenant & PageRange, ApiKeyReadRow>((parameters) =>
  inOrder(apiKeysOf(parameters), apiKeyOrder, parameters).compile(),
);

/**
 * The search for a merchant's API keys in a state. There is no index by state, because active keys expire without a write. Few of
 * many keys may be in the state.
 */
export const apiKeySearch = (tenant: Tenant, state: CredentialState): Search<ApiKeyReadRow, 'all'> => ({
  sources: ['all'],
  select: (_source, range) => selectInState({ ...tenant, state, ...range }),
  selectEnd: (_source, range) => selectEnd({ ...tenant, ...range }),
});

const selectInState = prepareRead<Tenant & SearchRange & { readonly state: CredentialState }, ApiKeyReadRow>(
  (parameters) => {
    const read = inSearch(apiKeysOf(parameters), apiKeyOrder, parameters);
    return db
      .selectFrom(read.as('api_key'))
      .selectAll()
      .where(CREDENTIAL_STATE, '=', parameters('state'))
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(parameters('limit'))
      .compile();
  },
);

const selectEnd = prepareRead<
  Tenant & PageRange & { readonly skipped: number },
  Pick<ApiKeyReadRow, 'created_at' | 'id'>
>((parameters) =>
  inOrder(apiKeysOf(parameters), apiKeyOrder, parameters)
    .clearSelect()
    .select(['created_at', 'id'])
    .offset(parameters('skipped'))
    .compile(),
);

/** The API key with one of these hashes, of any merchant. */
export function selectApiKeyByHash(hashes: readonly Buffer[]) {
  return apiKeys().where('key_hash', 'in', hashes).compile();
}
