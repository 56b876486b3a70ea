import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { InferKyselyTable } from '@mikro-orm/postgresql';
import { queryBuilder } from '../platform/database/database.ts';
import { inOrder, type ListOrder, type PageRange } from '../platform/reads/list-order.ts';
import { prepareRead } from '../platform/reads/prepared-read.ts';
import type { EnvironmentName, Tenant } from '../platform/tenant.ts';
import type { ApiKeyEntity } from './api-key.entity.ts';
import type { ScopeName } from './api-key.ts';

interface ApiKeyTables {
  'api_keys.api_key': InferKyselyTable<typeof ApiKeyEntity>;
}

/** A key as reads answer it. */
export interface ApiKeyReadRow {
  merchant_id: string;
  environment: EnvironmentName;
  id: string;
  name: string;
  hint: string;
  scopes: ScopeName[];
  created_at: Timestamp;
  expires_at: Timestamp | null;
  revoked_at: Timestamp | null;
  last_used_at: Timestamp | null;
}

/** What there is to know about a key that was shown. */
export type ShownKeyRow = Omit<ApiKeyReadRow, 'name' | 'hint' | 'created_at'>;

const db = queryBuilder<ApiKeyTables>();

/** Keys are listed newest first. */
export const apiKeyOrder: ListOrder<ApiKeyReadRow> = { columns: ['created_at', 'id'], direction: 'desc' };

/** A page of keys in their order. */
export const selectApiKeys = prepareRead<Tenant & PageRange, ApiKeyReadRow>((parameters) => {
  const query = db
    .selectFrom('api_keys.api_key')
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .select(['merchant_id', 'environment', 'id', 'name', 'hint', 'scopes'])
    .select(['created_at', 'expires_at', 'revoked_at', 'last_used_at']);
  return inOrder(query, apiKeyOrder, parameters).$castTo<ApiKeyReadRow>().compile();
});

/** The key with one of these hashes, whosever it is. */
export function selectShownKey(hashes: readonly Buffer[]) {
  return db
    .selectFrom('api_keys.api_key')
    .where('key_hash', 'in', hashes)
    .select(['merchant_id', 'environment', 'id', 'scopes', 'expires_at', 'revoked_at', 'last_used_at'])
    .$castTo<ShownKeyRow>()
    .compile();
}
