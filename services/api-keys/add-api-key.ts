import { v7 as uuidv7 } from 'uuid';
import { apiKeyHint, newApiKey } from '../platform/api-key-format.ts';
import { requireFutureExpiry } from '../platform/credential-lifetime.ts';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import type { KeyRing } from '../platform/key-ring.ts';
import { ApiKeyEntity, type ApiKeyRow } from './api-key.entity.ts';
import { storedHash } from './key-hash.ts';

export interface NewApiKey {
  readonly name: string;
  readonly scopes: ApiKeyRow['scopes'];
  readonly createdAt: Date;
  readonly expiresAt: Date | undefined;
}

/** Generates a key and stores its record. The key itself is returned here and stored nowhere. EXPIRES_AT_IN_PAST. */
export function addApiKey(tx: TenantTransaction, peppers: KeyRing, values: NewApiKey) {
  requireFutureExpiry(values.expiresAt, values.createdAt);
  const key = newApiKey(tx.tenant.environment);
  const record = tx.create(ApiKeyEntity, {
    id: uuidv7(),
    hint: apiKeyHint(key),
    ...storedHash(key, peppers),
    ...values,
  });
  return { key, record };
}
