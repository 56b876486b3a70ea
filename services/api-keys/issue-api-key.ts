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

/** Issues a key, shown in this answer and never again. */
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
    withoutKey,
  );
}

/** What a replay answers: everything but the key. */
export const withoutKey = <Answer extends { key: string; keyAbsentReason: KeyAbsentReason }>(
  answer: Answer,
): Answer => ({ ...answer, key: '', keyAbsentReason: KeyAbsentReason.SECRET_NOT_REPEATED });
