import { create } from '@bufbuild/protobuf';
import {
  type PublishEventResponse,
  PublishEventResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';

/** The response as recorded under its key. A replay takes the data from its request, which must be the same. */
export function withoutData({ event }: PublishEventResponse): PublishEventResponse {
  const { data: _, ...rest } = event!;
  return create(PublishEventResponseSchema, { event: rest });
}
