import { timestampDate } from '@bufbuild/protobuf/wkt';
import {
  ApiKeyScope,
  type AuthenticateApiKeyRequest,
  type AuthenticateApiKeyResponse,
} from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { environmentOfApiKey } from '../platform/api-key-format.ts';
import { stateOf } from '../platform/credential-lifetime.ts';
import type { Database } from '../platform/database/database.ts';
import { unauthenticated } from '../platform/errors.ts';
import type { KeyRing } from '../platform/key-ring.ts';
import { environmentName } from '../platform/tenant.ts';
import { type ApiKeyReadRow, selectApiKeyByHash } from './api-key.queries.ts';
import { candidateHashes } from './key-hash.ts';
import type { LastUse } from './last-use.ts';

/**
 * The merchant and scopes of a key, in one hot read. A malformed key is rejected without a read. API_KEY_INVALID,
 * API_KEY_EXPIRED, API_KEY_ENVIRONMENT_MISMATCH.
 */
export async function authenticateApiKey(
  database: Database,
  peppers: KeyRing,
  lastUse: LastUse,
  request: AuthenticateApiKeyRequest,
): Promise<AuthenticateApiKeyResponse> {
  if (environmentOfApiKey(request.key) === undefined) throw invalidKey();
  const row = await database.readOne(selectApiKeyByHash(candidateHashes(request.key, peppers)));
  if (!row) throw invalidKey();
  const now = new Date();
  requireActive(row, now);
  if (row.environment !== environmentName(request.environment)) {
    throw unauthenticated(
      'API_KEY_ENVIRONMENT_MISMATCH',
      `the API key belongs to the environment ${row.environment}`,
      { environment: row.environment },
    );
  }
  lastUse.record(row, now);
  return {
    $typeName: 'payments.apikeys.v1.AuthenticateApiKeyResponse',
    apiKeyId: row.id,
    merchantId: row.merchant_id,
    scopes: row.scopes.map((scope) => ApiKeyScope[scope]),
    expiresAt: row.expires_at ?? undefined,
  };
}

/** A revoked key gets the same error as an unknown one: API_KEY_INVALID. API_KEY_EXPIRED. */
function requireActive(row: ApiKeyReadRow, now: Date): void {
  const lifetime = {
    expiresAt: row.expires_at && timestampDate(row.expires_at),
    revokedAt: row.revoked_at && timestampDate(row.revoked_at),
  };
  const state = stateOf(lifetime, now);
  switch (state) {
    case 'ACTIVE':
      return;
    case 'EXPIRED':
      throw unauthenticated('API_KEY_EXPIRED', 'the API key has expired');
    case 'REVOKED':
      throw invalidKey();
    default:
      state satisfies never;
  }
}

const invalidKey = () => unauthenticated('API_KEY_INVALID', 'the API key is invalid');
