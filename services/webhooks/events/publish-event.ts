import type { HandlerContext } from '@connectrpc/connect';
import type {
  Event,
  PublishEventRequest,
  PublishEventResponse,
  PublishEventResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Writes } from '../../platform/writes/writes.ts';
import type { EventIntake } from './event-intake.ts';
import { publicationOf } from './publication.ts';
import { publishAlone } from './publish-alone.ts';

/** Publishes an event for another team; events that arrive at the same time share a transaction. */
export async function publishEvent(
  intake: EventIntake,
  writes: Writes,
  request: PublishEventRequest,
  context: HandlerContext,
): Promise<PublishEventResponse> {
  const { data, ...requestWithoutData } = request;
  const publication = publicationOf({ request, requestWithoutData, context }, [request], (_, field) => field);
  const alone = async () => {
    const one = (events: readonly Event[]) => ({ event: events[0]! });
    return [(await publishAlone<typeof PublishEventResponseSchema>(writes, publication, one)).event!];
  };
  const [event] = await intake.publish(publication, alone);
  return {
    $typeName: 'payments.webhooks.v1.PublishEventResponse',
    event: { ...event!, ...(data && { data }) },
  };
}
