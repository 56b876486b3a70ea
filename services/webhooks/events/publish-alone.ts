import type { DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { Event } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { actorOf } from '../../platform/rpc/call-context.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { numbered, type Publication } from './publication.ts';

/**
 * Publishes the events of a call in a transaction of their own.
 * @param responseOf the response that is recorded, of events without data: a replay has it in its request.
 */
export function publishAlone<Output extends DescMessage>(
  writes: Writes,
  publication: Publication,
  responseOf: (events: Event[]) => MessageInitShape<Output>,
): Promise<MessageShape<Output>> {
  const { scope, context, request, requestWithoutData, events } = publication;
  return writes.run<Output>(
    request,
    context,
    async (tx) => responseOf(numbered(publication, await tx.publishAll(events))),
    // Events keep their data, so the many audit entries of services that publish them do not repeat it.
    { scope, audited: actorOf(context) ? request : requestWithoutData },
  );
}
