import type { HandlerContext } from '@connectrpc/connect';
import type {
  PublishEventsRequest,
  PublishEventsResponse,
  PublishEventsResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Writes } from '../../platform/writes/writes.ts';
import type { EventIntake } from './event-intake.ts';
import { publicationOf } from './publication.ts';
import { publishAlone } from './publish-alone.ts';

/** Publishes many events of a merchant under one idempotency key: all of them, or none. */
export async function publishEvents(
  intake: EventIntake,
  writes: Writes,
  request: PublishEventsRequest,
  context: HandlerContext,
): Promise<PublishEventsResponse> {
  const requestWithoutData = { ...request, events: request.events.map(({ data: _, ...event }) => event) };
  const publication = publicationOf(
    { request, requestWithoutData, context },
    request.events,
    (index, field) => `events[${index}].${field}`,
  );
  const alone = async () =>
    (await publishAlone<typeof PublishEventsResponseSchema>(writes, publication, (events) => ({ events })))
      .events;
  return {
    $typeName: 'payments.webhooks.v1.PublishEventsResponse',
    events: [...(await intake.publish(publication, alone))],
  };
}
