import { v7 as uuidv7 } from 'uuid';
import { apiKeyHint, newApiKey } from '../platform/api-key-format.ts';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import type { KeyRing } from '../platform/key-ring.ts';
import { ApiKeyEntity } from './api-key.entity.ts';
import { requireFutureExpiry, type ScopeName } from './api-key.ts';
import { storedHash } from './key-hash.ts';

/** What a new key is to be. */
export interface NewApiKey {
  readonly name: string;
  readonly scopes: ScopeName[];
  readonly createdAt: Date;
  readonly expiresAt: Date | undefined;
}

/** Makes a key and adds its record; the key itself is answered here and kept nowhere. EXPIRES_AT_IN_PAST. */
export function addApiKey(tx: TenantTransaction, peppers: KeyRing, wanted: NewApiKey) {
  requireFutureExpiry(wanted.expiresAt, wanted.createdAt);
  const key = newApiKey(tx.tenant.environment);
  const record = tx.create(ApiKeyEntity, {
    id: uuidv7(),
    hint: apiKeyHint(key),
    ...storedHash(key, peppers),
    ...wanted,
  });
  return { key, record };
}
