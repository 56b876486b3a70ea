import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import {
  ApiKeyScope,
  type IssueApiKeyRequest,
  type IssueApiKeyResponseSchema,
  KeyAbsentReason,
} from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { enumName } from '../platform/enum-name.ts';
import type { KeyRing } from '../platform/key-ring.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { addApiKey } from './add-api-key.ts';
import { storedApiKeyMessage } from './api-key.message.ts';

/** Issues a key. Only this response contains the key. */
export function issueApiKey(
  writes: Writes,
  peppers: KeyRing,
  request: IssueApiKeyRequest,
  context: HandlerContext,
) {
  return writes.run<typeof IssueApiKeyResponseSchema>(
    request,
    context,
    async (tx) => {
      const { key, record } = addApiKey(tx, peppers, {
        name: request.name,
        scopes: request.scopes.map((scope) => enumName(ApiKeyScope, scope)),
        createdAt: new Date(),
        expiresAt: request.expiresAt && timestampDate(request.expiresAt),
      });
      return { apiKey: storedApiKeyMessage(record), key };
    },
    { remember: withoutKey },
  );
}

/** The response to a replay: everything but the key. */
export const withoutKey = <Response extends { key: string; keyAbsentReason: KeyAbsentReason }>(
  response: Response,
): Response => ({ ...response, key: '', keyAbsentReason: KeyAbsentReason.SECRET_NOT_REPEATED });
