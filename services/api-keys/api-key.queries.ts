import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { InferKyselyTable } from '@mikro-orm/postgresql';
import { queryBuilder } from '../platform/database.ts';
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

/** Keys newest first by (created_at, id), after a position. */
export function selectApiKeys(
  tenant: Tenant,
  after: { createdAt: Date; id: string } | undefined,
  limit: number,
) {
  let query = db
    .selectFrom('api_keys.api_key')
    .where('merchant_id', '=', tenant.merchantId)
    .where('environment', '=', tenant.environment)
    .select(['merchant_id', 'environment', 'id', 'name', 'hint', 'scopes'])
    .select(['created_at', 'expires_at', 'revoked_at', 'last_used_at']);
  if (after) {
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('created_at', 'id'), '<', tuple(after.createdAt, after.id)),
    );
  }
  return query
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .$castTo<ApiKeyReadRow>()
    .compile();
}

/** The key with one of these hashes, whosever it is. */
export function selectShownKey(hashes: readonly Buffer[]) {
  return db
    .selectFrom('api_keys.api_key')
    .where('key_hash', 'in', hashes)
    .select(['merchant_id', 'environment', 'id', 'scopes', 'expires_at', 'revoked_at', 'last_used_at'])
    .$castTo<ShownKeyRow>()
    .compile();
}
