import type { HandlerContext } from '@connectrpc/connect';
import type {
  RevokeApiKeyRequest,
  RevokeApiKeyResponseSchema,
} from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import type { Writes } from '../platform/writes/writes.ts';
import { storedApiKeyMessage } from './api-key.message.ts';
import { lockApiKey } from './lock-api-key.ts';

/** Revokes a key permanently. A key that is already revoked keeps its time of revocation. */
export function revokeApiKey(writes: Writes, request: RevokeApiKeyRequest, context: HandlerContext) {
  return writes.run<typeof RevokeApiKeyResponseSchema>(request, context, async (tx) => {
    const key = await lockApiKey(tx, request.apiKeyId);
    key.revokedAt ??= new Date();
    return { apiKey: storedApiKeyMessage(key) };
  });
}
