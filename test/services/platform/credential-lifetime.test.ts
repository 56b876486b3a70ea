import { expect, test } from 'vitest';
import {
  type CredentialLifetime,
  requireFutureExpiry,
  rotatedExpiry,
  stateOf,
} from '../../../services/platform/credential-lifetime.ts';
import { failedPrecondition } from '../../../services/platform/errors.ts';

const now = new Date('2026-11-21T12:00:00.000Z');
const before = new Date(now.getTime() - 1);
const after = new Date(now.getTime() + 1);

const rotated = (credential: CredentialLifetime, overlapSeconds: number) =>
  rotatedExpiry(credential, { now, overlapSeconds }, (state) =>
    failedPrecondition('KEY_STATE', state, { state }),
  );

test('a key expires at the exact millisecond of its expiry, and a revoked key stays revoked', () => {
  expect(stateOf({}, now)).toBe('ACTIVE');
  expect(stateOf({ expiresAt: after }, now)).toBe('ACTIVE');
  expect(stateOf({ expiresAt: now }, now)).toBe('EXPIRED');
  expect(stateOf({ expiresAt: before, revokedAt: before }, now)).toBe('REVOKED');
});

test('a rotated key stays valid for the overlap, but never longer than before', () => {
  expect(rotated({}, 60)).toEqual(new Date('2026-11-21T12:01:00.000Z'));
  expect(rotated({ expiresAt: after }, 60)).toBe(after);
  expect(rotated({ expiresAt: after }, 0)).toEqual(now);
});

test('only an active key can be rotated', () => {
  const refusal = (state: string) => expect.objectContaining({ reason: 'KEY_STATE', metadata: { state } });
  expect(() => rotated({ revokedAt: before }, 60)).toThrow(refusal('REVOKED'));
  expect(() => rotated({ expiresAt: now }, 60)).toThrow(refusal('EXPIRED'));
});

test('a key cannot be issued with an expiry in the past', () => {
  expect(() => requireFutureExpiry(now, now)).toThrow(
    expect.objectContaining({ reason: 'EXPIRES_AT_IN_PAST' }),
  );
  expect(() => requireFutureExpiry(after, now)).not.toThrow();
});
