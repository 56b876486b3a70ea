import { create } from '@bufbuild/protobuf';
import {
  type PublishEventResponse,
  PublishEventResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';

/** The answer as it is recorded under its key: a replay comes with the same request, which has the data. */
export function withoutData({ event }: PublishEventResponse): PublishEventResponse {
  const { data: _, ...rest } = event!;
  return create(PublishEventResponseSchema, { event: rest });
}
