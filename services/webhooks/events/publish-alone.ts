import { create } from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import {
  type PublishEventRequest,
  type PublishEventResponse,
  PublishEventResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { timestampOf } from '../../platform/timestamps.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { withoutData } from './published-answer.ts';

/** Publishes a valid event in its own transaction. */
export async function publishAlone(
  writes: Writes,
  request: PublishEventRequest,
  context: HandlerContext,
): Promise<PublishEventResponse> {
  const { environment, type, objectId, data = {} } = request;
  const answer = await writes.run<typeof PublishEventResponseSchema>(
    request,
    context,
    async (tx) => {
      const { merchantId } = tx.tenant;
      const requestId = request.requestId ?? tx.requestId;
      const occurredAt = new Date();
      const { id, sequence } = await tx.publish({ type, objectId, data, requestId, occurredAt });
      const timestamp = timestampOf(occurredAt);
      return { event: { id, merchantId, environment, type, objectId, sequence, requestId, timestamp, data } };
    },
    withoutData,
  );
  return create(PublishEventResponseSchema, { event: { ...answer.event!, data } });
}
