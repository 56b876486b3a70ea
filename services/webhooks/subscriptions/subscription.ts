import { failedPrecondition } from '../../platform/errors.ts';
import type { AttemptFailureName, AttemptResult } from '../deliveries/delivery.ts';

export type SubscriptionState = 'PENDING' | 'ACTIVE' | 'ERROR' | 'DISABLED';

/** Why a subscription is in ERROR or was disabled by its endpoint, as stored in a JSON column. */
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
      /** The endpoint returned HTTP 410. */
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

/** The state of a subscription that outcomes of deliveries change. */
export interface SubscriptionHealth {
  readonly state: SubscriptionState;
  /** The current or last error, and since when; kept until it is ACTIVE. */
  readonly error: { readonly details: SubscriptionError; readonly at: Date } | undefined;
  /** Set if deliveries are HELD. `probeAt` is when the next one is sent as a probe; undefined while all may be sent. */
  readonly held: { readonly probeAt: Date | undefined } | undefined;
}

export const PROBE_INTERVAL_MS = 5_000;

/** After a 2xx: ACTIVE, and all held deliveries may be sent. */
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
  // An error from before it was disabled is not the reason for the present ERROR.
  const error = health.state === 'ERROR' ? health.error : undefined;
  return { ...health, state: 'ERROR', error: error ?? { details, at } };
}

/** After a failed delivery was held because of the limit of retry workflows: probes held deliveries. */
export function afterHolding(health: SubscriptionHealth, at: Date): SubscriptionHealth {
  if (health.state === 'DISABLED') return health;
  const probeAt = health.held?.probeAt ?? new Date(at.getTime() + PROBE_INTERVAL_MS);
  return { ...health, held: { probeAt } };
}

/** Whether two are equal and nothing has to be written. */
export function isSameHealth(a: SubscriptionHealth, b: SubscriptionHealth): boolean {
  return (
    a.state === b.state &&
    a.error?.at.getTime() === b.error?.at.getTime() &&
    (a.held === undefined) === (b.held === undefined) &&
    a.held?.probeAt?.getTime() === b.held?.probeAt?.getTime()
  );
}

/** Requires a DISABLED subscription. WEBHOOK_SUBSCRIPTION_STATE. */
export function requireDisabled(state: SubscriptionState): void {
  if (state !== 'DISABLED') throw subscriptionState(state);
}

/** Requires a subscription that is not DISABLED. WEBHOOK_SUBSCRIPTION_STATE. */
export function requireEnabled(state: SubscriptionState): void {
  if (state === 'DISABLED') throw subscriptionState(state);
}

const subscriptionState = (state: SubscriptionState) =>
  failedPrecondition('WEBHOOK_SUBSCRIPTION_STATE', `the subscription is ${state}`, { state });
