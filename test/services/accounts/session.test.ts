import { expect, test } from 'vitest';
import { openBounds } from '../../../services/accounts/sessions/session.ts';
import { requireUnexpired } from '../../../services/platform/people/session-expiry.ts';

const limits = { idleMs: 1_000, lifetimeMs: 10_000, maxSignIns: 20 };
const now = new Date('2026-11-21T12:00:00.000Z');
const at = (ms: number) => new Date(now.getTime() + ms);
const requireAt = (seenMs: number, expiryMs: number) => () =>
  requireUnexpired({ lastSeenAt: at(seenMs), expiresAt: at(expiryMs) }, limits.idleMs, now);

test('a session expires at the exact millisecond of its expiry or idle timeout', () => {
  expect(requireAt(-999, 1)).not.toThrow();
  expect(requireAt(-1_000, 1)).toThrow('the session has expired');
  expect(requireAt(-999, 0)).toThrow('the session has expired');
});

test('the bounds of open sessions match their state', () => {
  expect(openBounds(now, limits)).toEqual({ now, seenAfter: new Date(now.getTime() - 1_000) });
});
