import { failedPrecondition, invalidArgument } from '../platform/errors.ts';

export type ScopeName = 'REFUNDS_READ' | 'CATALOG_READ' | 'FUNDS_READ' | 'ADVANCES_READ' | 'WEBHOOKS_MANAGE';

type ApiKeyState = 'ACTIVE' | 'EXPIRED' | 'REVOKED';

/** The times that determine a key's state. */
export interface ApiKeyLifetime {
  readonly expiresAt?: Date | null;
  readonly revokedAt?: Date | null;
}

/** The state of a key at a point in time. It is expired at `expiresAt` itself. */
export function stateOf(key: ApiKeyLifetime, now: Date): ApiKeyState {
  if (key.revokedAt) return 'REVOKED';
  return key.expiresAt && key.expiresAt <= now ? 'EXPIRED' : 'ACTIVE';
}

/** When a rotated key expires: after the overlap, but never later than before. API_KEY_STATE. */
export function rotatedExpiry(key: ApiKeyLifetime, now: Date, overlapSeconds: number): Date {
  const state = stateOf(key, now);
  if (state !== 'ACTIVE') throw failedPrecondition('API_KEY_STATE', `the key is ${state}`, { state });
  const end = new Date(now.getTime() + overlapSeconds * 1_000);
  return key.expiresAt && key.expiresAt < end ? key.expiresAt : end;
}

/** The expiry of a new key must be in the future. EXPIRES_AT_IN_PAST. */
export function requireFutureExpiry(expiresAt: Date | undefined, now: Date): void {
  if (!expiresAt || expiresAt > now) return;
  throw invalidArgument('EXPIRES_AT_IN_PAST', 'expires_at: must be in the future', { field: 'expires_at' });
}
