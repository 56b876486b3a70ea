import { expect, it } from 'vitest';
import {
  expiresSoon,
  isStillUsed,
  type ReplacedKey,
  replacedNoticeAt,
} from '../../../services/platform/api-key-expiry.ts';
import { DAY_MS, HOUR_MS } from '../../../services/platform/durations.ts';

const now = new Date('2026-11-21T12:00:00.000Z');
const after = (ms: number) => new Date(now.getTime() + ms);

it('a key expires soon in its last seven days', () => {
  expect(expiresSoon(after(7 * DAY_MS), now)).toBe(true);
  expect(expiresSoon(after(7 * DAY_MS + 1), now)).toBe(false);
});

/** A key that was replaced now. */
const replaced = (overlapMs: number, lastUsedAt?: Date): ReplacedKey => ({
  rotatedAt: now,
  expiresAt: after(overlapMs),
  lastUsedAt,
});

it('the notice of a replaced key is due a day before its end, or halfway through a shorter overlap', () => {
  expect(replacedNoticeAt(replaced(7 * DAY_MS))).toEqual(after(6 * DAY_MS));
  expect(replacedNoticeAt(replaced(DAY_MS))).toEqual(after(DAY_MS / 2));
});

it.each([
  { overlap: 'eight days', overlapMs: 8 * DAY_MS, recentMs: DAY_MS },
  { overlap: 'a day', overlapMs: DAY_MS, recentMs: 6 * HOUR_MS },
])(
  'a key that is replaced within $overlap is still used if it was used lately, after the rotation',
  (key) => {
    const end = after(key.overlapMs);
    const isUsed = (at: Date | undefined, seen: Date) => isStillUsed(replaced(key.overlapMs, at), seen);
    expect(isUsed(undefined, end)).toBe(false);
    expect(isUsed(new Date(end.getTime() - key.recentMs), end)).toBe(false);
    expect(isUsed(new Date(end.getTime() - key.recentMs + 1), end)).toBe(true);
    expect(isUsed(now, after(1))).toBe(false);
    expect(isUsed(after(1), after(1))).toBe(true);
  },
);
