import { CREDENTIAL_STATE, type CredentialState } from '../platform/credential-lifetime.ts';
import { inOrder, type ListOrder, type PageRange } from '../platform/reads/list-order.ts';
import { prepareRead } from '../platform/reads/prepared-read.ts';
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

/** A page of a merchant's keys; an undefined state is ignored. */
interface ApiKeyPage extends Tenant, PageRange {
  readonly state: CredentialState | undefined;
}

/** A page of API keys in list order. */
export const selectApiKeys = prepareRead<ApiKeyPage, ApiKeyReadRow>((parameters) => {
  let query = apiKeys()
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'));
  if (parameters.has('state')) query = query.where(CREDENTIAL_STATE, '=', parameters('state'));
  return inOrder(query, apiKeyOrder, parameters).compile();
});

/** The API key with one of these hashes, of any merchant. */
export function selectApiKeyByHash(hashes: readonly Buffer[]) {
  return apiKeys().where('key_hash', 'in', hashes).compile();
}
