import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import type {
  GetDeliveryRequest,
  GetDeliveryResponse,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { tenantOf } from '../../platform/tenant.ts';
import { deliveryMessage } from './delivery.message.ts';
import {
  type AttemptReadRow,
  type DeliveryReadRow,
  selectAttempts,
  selectBody,
  selectDelivery,
  selectTarget,
} from './delivery.queries.ts';
import { expectedAttempts } from './delivery.ts';
import type { DeliveryDependencies } from './delivery-dependencies.ts';
import { deliveryNotFound } from './delivery-store.ts';
import { fullAttemptMessage } from './sent-request.message.ts';

/** One delivery with its attempts, what was sent, and the attempts that remain. */
export async function getDelivery(
  { database, link, schedules }: DeliveryDependencies,
  request: GetDeliveryRequest,
): Promise<GetDeliveryResponse> {
  const key = { ...tenantOf(request), id: request.deliveryId };
  const delivery = await database.readOne(selectDelivery(key));
  if (!delivery) throw deliveryNotFound();
  // Read after the delivery, so that they explain its status.
  const { event_id: eventId, subscription_id: subscriptionId } = delivery;
  const [attempts, [event], [target]] = await Promise.all([
    database.read(selectAttempts(key)),
    database.read(selectBody({ ...key, id: eventId })),
    database.read(selectTarget({ ...key, id: subscriptionId })),
  ]);
  const parts = { eventId, body: event?.body, target };
  // A listener makes one attempt.
  const schedule = target?.is_listener ? [] : schedules[delivery.environment];
  return {
    $typeName: 'payments.webhooks.v1.GetDeliveryResponse',
    delivery: deliveryMessage(delivery, link),
    attempts: attempts.map((row) => fullAttemptMessage(row, parts)),
    requestBody: parts.body,
    expectedAttempts: expectedOf(delivery, attempts, schedule),
  };
}

function expectedOf(
  { attempt_count, next_attempt_at }: DeliveryReadRow,
  attempts: readonly Pick<AttemptReadRow, 'failure'>[],
  schedule: readonly number[],
) {
  if (!next_attempt_at) return [];
  const lost = attempts.filter(({ failure }) => failure === 'WORKER_LOST').length;
  return expectedAttempts(attempt_count - lost, timestampDate(next_attempt_at), schedule).map(
    timestampFromDate,
  );
}
