import { randomUUID } from 'node:crypto';
import type { AttemptResult } from '../../../../services/webhooks/deliveries/delivery.ts';
import {
  exhaustionError,
  type SubscriptionError,
} from '../../../../services/webhooks/subscriptions/subscription.ts';

/** The error of a subscription whose delivery failed this often, the last time with this outcome. */
export const exhausted = (
  attempts: number,
  result: Pick<AttemptResult, 'httpStatus' | 'failure'>,
): SubscriptionError => {
  const delivery = { id: randomUUID(), event_id: randomUUID() };
  return exhaustionError(delivery, attempts, { ...result, endedAt: new Date() });
};

/** The error of a subscription that a 410 disabled. */
export const gone = (): SubscriptionError => ({
  cause: 'GONE',
  httpStatus: 410,
  deliveryId: randomUUID(),
  eventId: randomUUID(),
});
