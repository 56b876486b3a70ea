import { failedPrecondition } from '../../platform/errors.ts';
import type { AttemptFailureName, AttemptResult } from '../deliveries/delivery.ts';

export type SubscriptionState = 'PENDING' | 'ACTIVE' | 'ERROR' | 'DISABLED';

/** Why a subscription is in ERROR, or was disabled by its endpoint: as the JSON column holds it. */
export type SubscriptionError =
  | {
      /** The last attempt of a delivery failed. */
      readonly cause: 'DELIVERY_EXHAUSTED';
      readonly attempts: number;
      /** How the last attempt ended. */
      readonly httpStatus?: number | undefined;
      readonly failure?: AttemptFailureName | undefined;
      readonly deliveryId: string;
      readonly eventId: string;
    }
  | {
      /** A delivery was still open when the retention period of its event ended. */
      readonly cause: 'DELIVERY_EXPIRED';
      readonly retentionDays: number;
    }
  | {
      /** The endpoint answered HTTP 410. */
      readonly cause: 'GONE';
      readonly httpStatus: number;
      readonly deliveryId: string;
      readonly eventId: string;
    };

/** The error of a delivery whose last attempt failed. */
export const exhaustionError = (
  delivery: { readonly id: string; readonly event_id: string },
  attempts: number,
  { httpStatus, failure }: AttemptResult,
): SubscriptionError => ({
  cause: 'DELIVERY_EXHAUSTED',
  attempts,
  httpStatus,
  failure,
  deliveryId: delivery.id,
  eventId: delivery.event_id,
});

/** What outcomes of deliveries change in a subscription. */
export interface SubscriptionHealth {
  readonly state: SubscriptionState;
  /** Why and since when it is, or last was, in ERROR; kept until it is ACTIVE. */
  readonly error: { readonly details: SubscriptionError; readonly at: Date } | undefined;
  /** Whether deliveries are HELD, and when the next of them goes as a probe; no time: they flow. */
  readonly held: { readonly probeAt: Date | undefined } | undefined;
}

export const PROBE_INTERVAL_MS = 5_000;

/** After a 2xx: ACTIVE, and what is held flows again. */
export function afterSuccess(health: SubscriptionHealth): SubscriptionHealth {
  if (health.state === 'DISABLED') return health;
  return { state: 'ACTIVE', error: undefined, held: health.held && { probeAt: undefined } };
}

/** After a delivery's last attempt failed: ERROR, with the details of the first delivery that failed. */
export function afterExhaustion(
  health: SubscriptionHealth,
  details: SubscriptionError,
  at: Date,
): SubscriptionHealth {
  if (health.state === 'DISABLED') return health;
  // What an earlier error was, before it was disabled, is not why it is in ERROR now.
  const error = health.state === 'ERROR' ? health.error : undefined;
  return { ...health, state: 'ERROR', error: error ?? { details, at } };
}

/** After the limit of retry workflows held a failed delivery: held deliveries are probed. */
export function afterHolding(health: SubscriptionHealth, at: Date): SubscriptionHealth {
  const probeAt = health.held?.probeAt ?? new Date(at.getTime() + PROBE_INTERVAL_MS);
  return { ...health, held: { probeAt } };
}

/** Whether two are the same, so that nothing is to be written. */
export function isSameHealth(a: SubscriptionHealth, b: SubscriptionHealth): boolean {
  return (
    a.state === b.state &&
    a.error?.at.getTime() === b.error?.at.getTime() &&
    (a.held === undefined) === (b.held === undefined) &&
    a.held?.probeAt?.getTime() === b.held?.probeAt?.getTime()
  );
}

/** Only what is DISABLED can be reactivated. WEBHOOK_SUBSCRIPTION_STATE. */
export function requireDisabled(state: SubscriptionState): void {
  if (state !== 'DISABLED') throw subscriptionState(state);
}

/** What is DISABLED delivers nothing. WEBHOOK_SUBSCRIPTION_STATE. */
export function requireEnabled(state: SubscriptionState): void {
  if (state === 'DISABLED') throw subscriptionState(state);
}

const subscriptionState = (state: SubscriptionState) =>
  failedPrecondition('WEBHOOK_SUBSCRIPTION_STATE', `the subscription is ${state}`, { state });
