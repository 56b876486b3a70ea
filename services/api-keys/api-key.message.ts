import { type ApiKey, ApiKeyScope } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { readRowOf } from '../platform/reads/read-table.ts';
import { environmentEnum } from '../platform/tenant.ts';
import type { ApiKeyRow } from './api-key.entity.ts';
import type { ApiKeyReadRow } from './api-key.queries.ts';

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
    rotatedAt: row.rotated_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
    lastUsedAt: row.last_used_at ?? undefined,
  };
}

/** The message of an API key inside a transaction. */
export const storedApiKeyMessage = (key: ApiKeyRow): ApiKey => apiKeyMessage(readRowOf(key));
