import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import { openBounds, stateOf } from '../../../services/accounts/sessions/session.ts';

const limits = { idleMs: 1_000, lifetimeMs: 10_000 };
const now = new Date('2026-11-21T12:00:00.000Z');
const at = (ms: number) => timestampFromDate(new Date(now.getTime() + ms));
const session = (seenMs: number, expiryMs: number) => ({
  last_seen_at: at(seenMs),
  expires_at: at(expiryMs),
  ended_at: null,
});

test('a session expires at the exact millisecond of its expiry or idle timeout; an ended one has ended', () => {
  expect(stateOf(session(-999, 1), now, limits)).toBe('OPEN');
  expect(stateOf(session(-1_000, 1), now, limits)).toBe('EXPIRED');
  expect(stateOf(session(-999, 0), now, limits)).toBe('EXPIRED');
  expect(stateOf({ ...session(-1_000, 0), ended_at: at(0) }, now, limits)).toBe('ENDED');
});

test('the bounds of open sessions match their state', () => {
  expect(openBounds(now, limits)).toEqual({ now, seenAfter: new Date(now.getTime() - 1_000) });
});
