import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import type {
  RotateApiKeyRequest,
  RotateApiKeyResponseSchema,
} from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { type CredentialState, rotatedExpiry } from '../platform/credential-lifetime.ts';
import { failedPrecondition } from '../platform/errors.ts';
import type { KeyRing } from '../platform/key-ring.ts';
import { later } from '../platform/timestamps.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { addApiKey } from './add-api-key.ts';
import { storedApiKeyMessage } from './api-key.message.ts';
import { withoutKey } from './issue-api-key.ts';
import { lockApiKey } from './lock-api-key.ts';

/**
 * Issues the successor of a key, which has only one, even when two people rotate it at once. The old key stays valid for
 * the overlap. API_KEY_NOT_FOUND, API_KEY_STATE, EXPIRES_AT_IN_PAST.
 */
export function rotateApiKey(
  writes: Writes,
  peppers: KeyRing,
  request: RotateApiKeyRequest,
  context: HandlerContext,
) {
  return writes.run<typeof RotateApiKeyResponseSchema>(
    request,
    context,
    async (tx) => {
      const rotated = await lockApiKey(tx, request.apiKeyId);
      // Another process, whose clock is ahead, may have issued the key.
      const now = later(rotated.createdAt, new Date());
      const { overlapSeconds } = request;
      rotated.expiresAt = rotatedExpiry(rotated, { now, overlapSeconds }, wrongState);
      if (rotated.rotatedAt) throw wrongState('ROTATED');
      rotated.rotatedAt = now;
      // Skips the notices that it expires soon; one follows only if it is still used near the end of the overlap.
      rotated.expiryNoticeDays = 0;
      const { key, record } = addApiKey(tx, peppers, {
        name: rotated.name,
        scopes: rotated.scopes,
        createdAt: now,
        expiresAt: request.expiresAt && timestampDate(request.expiresAt),
      });
      return { apiKey: storedApiKeyMessage(record), key, rotated: storedApiKeyMessage(rotated) };
    },
    { remember: withoutKey },
  );
}

/** FAILED_PRECONDITION (API_KEY_STATE). */
const wrongState = (state: CredentialState | 'ROTATED') =>
  failedPrecondition('API_KEY_STATE', `the key is ${state}`, { state });
