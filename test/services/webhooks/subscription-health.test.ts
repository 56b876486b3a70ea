import { expect, it } from 'vitest';
import {
  afterExhaustion,
  type SubscriptionHealth,
} from '../../../services/webhooks/subscriptions/subscription.ts';

const THEN = new Date('2026-11-01T12:00:00Z');
const NOW = new Date('2026-11-21T12:00:00Z');
const error = { reason: 'then', at: THEN };
const health = (state: SubscriptionHealth['state']): SubscriptionHealth => ({
  state,
  error,
  held: undefined,
});

it('keeps why and since when a subscription is in ERROR while more of its deliveries fail', () => {
  expect(afterExhaustion(health('ERROR'), 'now', NOW)).toEqual(health('ERROR'));
});

it('says why it is in ERROR now, whatever it was in ERROR for before it was disabled and reactivated', () => {
  const failed = afterExhaustion(health('PENDING'), 'now', NOW);
  expect(failed).toEqual({ state: 'ERROR', error: { reason: 'now', at: NOW }, held: undefined });
});
