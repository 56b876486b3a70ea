import type { HandlerContext } from '@connectrpc/connect';
import type {
  ResendToListenersRequest,
  ResendToListenersResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { OutboxSignal } from '../../platform/outbox/outbox-signal.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { requireEvent } from '../events/require-event.ts';

/** The lock keeps a listener from being removed before its delivery commits. */
const LOCK_LISTENERS = `
select id from webhooks.subscription
 where merchant_id = :merchantId and environment = :environment and listening_until > now() and state <> 'DISABLED'
 order by id for key share`;

const ADD_DELIVERIES = `
insert into webhooks.open_delivery
  (merchant_id, environment, id, subscription_id, lane, event_id, event_type, object_id, sequence, request_id, ordered,
   status, attempt_count, next_attempt_at)
select :merchantId, :environment, uuidv7(), s.id, s.lane, e.id, e.type, e.object_id, e.sequence, e.request_id, false,
       'PENDING', 0, date_trunc('milliseconds', now())
  from webhooks.event e
  join webhooks.subscription s
    on s.merchant_id = :merchantId and s.environment = :environment and s.id = any (:listenerIds::uuid[])
 where e.merchant_id = :merchantId and e.environment = :environment and e.id = :eventId`;

interface Dependencies {
  readonly writes: Writes;
  readonly outboxSignal: OutboxSignal;
}

/** Adds a delivery of an event for each open listener of the merchant. */
export async function resendToListeners(
  { writes, outboxSignal }: Dependencies,
  request: ResendToListenersRequest,
  context: HandlerContext,
) {
  const { eventId } = request;
  const answer = await writes.run<typeof ResendToListenersResponseSchema>(request, context, async (tx) => {
    await requireEvent((sql, parameters) => tx.execute(sql, parameters), eventId);
    const listenerIds = (await tx.execute<{ id: string }>(LOCK_LISTENERS)).map(({ id }) => id);
    if (listenerIds.length > 0) {
      await tx.execute(ADD_DELIVERIES, { eventId, listenerIds });
    }
    return { listenerCount: listenerIds.length };
  });
  if (answer.listenerCount > 0) outboxSignal.committed('EVENTS');
  return answer;
}
