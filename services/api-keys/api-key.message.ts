import { type ApiKey, ApiKeyScope } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { environmentEnum } from '../platform/tenant.ts';
import { timestampOf } from '../platform/timestamps.ts';
import type { ApiKeyRow } from './api-key.entity.ts';
import type { ApiKeyReadRow } from './api-key.queries.ts';

/** A read row as the wire's record. */
export function apiKeyMessage(row: ApiKeyReadRow): ApiKey {
  return {
    $typeName: 'payments.apikeys.v1.ApiKey',
    id: row.id,
    merchantId: row.merchant_id,
    environment: environmentEnum(row.environment),
    name: row.name,
    hint: row.hint,
    scopes: row.scopes.map((scope) => ApiKeyScope[scope]),
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
    lastUsedAt: row.last_used_at ?? undefined,
  };
}

/** A key as a transaction holds it, as the wire's record. */
export function storedApiKeyMessage(key: ApiKeyRow): ApiKey {
  return apiKeyMessage({
    merchant_id: key.merchantId,
    environment: key.environment,
    id: key.id,
    name: key.name,
    hint: key.hint,
    scopes: key.scopes,
    created_at: timestampOf(key.createdAt),
    expires_at: timestampOf(key.expiresAt) ?? null,
    revoked_at: timestampOf(key.revokedAt) ?? null,
    last_used_at: timestampOf(key.lastUsedAt) ?? null,
  });
}
