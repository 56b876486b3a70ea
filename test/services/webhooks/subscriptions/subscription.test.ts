import { expect, it } from 'vitest';
import {
  afterExhaustion,
  type SubscriptionHealth,
} from '../../../../services/webhooks/subscriptions/subscription.ts';
import { exhausted } from './subscription-errors.ts';

const THEN = new Date('2026-11-01T12:00:00Z');
const NOW = new Date('2026-11-21T12:00:00Z');
const error = { details: exhausted(4, { httpStatus: 500 }), at: THEN };
const later = exhausted(4, { failure: 'TLS' });
const health = (state: SubscriptionHealth['state']): SubscriptionHealth => ({
  state,
  error,
  held: undefined,
});

it('keeps the first error while more deliveries of a subscription in ERROR fail', () => {
  expect(afterExhaustion(health('ERROR'), later, NOW)).toEqual(health('ERROR'));
});

it('replaces an error from before the subscription was disabled and reactivated', () => {
  const failed = afterExhaustion(health('PENDING'), later, NOW);
  expect(failed).toEqual({ state: 'ERROR', error: { details: later, at: NOW }, held: undefined });
});
