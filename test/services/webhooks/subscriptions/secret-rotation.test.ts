import { describe, expect, it } from 'vitest';
import {
  endOfEarlierSecret,
  requireBelowSecretLimit,
} from '../../../../services/webhooks/subscriptions/secret-rotation.ts';

const DAY_MS = 86_400_000;
const now = new Date('2026-07-02T12:00:00.000Z');
const later = (ms: number) => new Date(now.getTime() + ms);
const revealedAt = new Date('2026-07-01T12:00:00.000Z');

describe('the end of an earlier secret', () => {
  it('is after the overlap', () => {
    expect(endOfEarlierSecret({ expiresAt: null, revealedAt }, now, DAY_MS)).toEqual(later(DAY_MS));
  });

  it('never moves later, but moves earlier when the overlap is shorter', () => {
    expect(endOfEarlierSecret({ expiresAt: later(60), revealedAt }, now, DAY_MS)).toEqual(later(60));
    expect(endOfEarlierSecret({ expiresAt: later(DAY_MS), revealedAt }, now, 60)).toEqual(later(60));
    expect(endOfEarlierSecret({ expiresAt: null, revealedAt }, now, 0)).toEqual(now);
  });

  it('is immediate for a secret that was never revealed', () => {
    expect(endOfEarlierSecret({ expiresAt: null, revealedAt: null }, now, DAY_MS)).toEqual(now);
  });
});

describe('another secret', () => {
  it('is allowed while at most two secrets sign', () => {
    expect(() => requireBelowSecretLimit([later(1), later(2), now, later(-1), now], now)).not.toThrow();
  });

  it('is refused while three secrets sign; the error says when the next one ends', () => {
    expect(() => requireBelowSecretLimit([later(3), later(1), later(2)], now)).toThrow(
      expect.objectContaining({
        reason: 'SIGNING_SECRET_LIMIT_REACHED',
        metadata: { free_at: '2026-07-02T12:00:00.001Z' },
      }),
    );
  });
});
