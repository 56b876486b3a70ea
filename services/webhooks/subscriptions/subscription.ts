import { failedPrecondition } from '../../platform/errors.ts';

export type SubscriptionState = 'PENDING' | 'ACTIVE' | 'ERROR' | 'DISABLED';

/** What outcomes of deliveries change in a subscription. */
export interface SubscriptionHealth {
  readonly state: SubscriptionState;
  /** Why and since when it is, or last was, in ERROR; kept until it is ACTIVE. */
  readonly error: { readonly reason: string; readonly at: Date } | undefined;
  /** Whether deliveries are HELD, and when the next of them goes as a probe; no time: they flow. */
  readonly held: { readonly probeAt: Date | undefined } | undefined;
}

export const PROBE_INTERVAL_MS = 5_000;

/** After a 2xx: ACTIVE, and what is held flows again. */
export function afterSuccess(health: SubscriptionHealth): SubscriptionHealth {
  if (health.state === 'DISABLED') return health;
  return { state: 'ACTIVE', error: undefined, held: health.held && { probeAt: undefined } };
}

/** After a delivery's last attempt failed: ERROR; the first reason since it came into ERROR stays. */
export function afterExhaustion(health: SubscriptionHealth, reason: string, at: Date): SubscriptionHealth {
  if (health.state === 'DISABLED') return health;
  // What an earlier error was, before it was disabled, is not why it is in ERROR now.
  const error = health.state === 'ERROR' ? health.error : undefined;
  return { ...health, state: 'ERROR', error: error ?? { reason, at } };
}

/** After a failed delivery found no room for another retry workflow: what is held is probed. */
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
