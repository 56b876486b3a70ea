import { failedPrecondition, invalidArgument } from '../platform/errors.ts';

export type ScopeName = 'REFUNDS_READ' | 'CATALOG_READ' | 'FUNDS_READ' | 'ADVANCES_READ' | 'WEBHOOKS_MANAGE';

type ApiKeyState = 'ACTIVE' | 'EXPIRED' | 'REVOKED';

/** What decides whether a key still opens anything. */
export interface ApiKeyLife {
  readonly expiresAt?: Date | null;
  readonly revokedAt?: Date | null;
}

/** The state of a key at a time; it has expired from the very millisecond of its expiry on. */
export function stateOf(key: ApiKeyLife, now: Date): ApiKeyState {
  if (key.revokedAt) return 'REVOKED';
  return key.expiresAt && key.expiresAt <= now ? 'EXPIRED' : 'ACTIVE';
}

/** When an active key that is rotated expires: after the overlap, never later than it would have. API_KEY_STATE. */
export function rotatedExpiry(key: ApiKeyLife, now: Date, overlapSeconds: number): Date {
  const state = stateOf(key, now);
  if (state !== 'ACTIVE') throw failedPrecondition('API_KEY_STATE', `the key is ${state}`, { state });
  const end = new Date(now.getTime() + overlapSeconds * 1_000);
  return key.expiresAt && key.expiresAt < end ? key.expiresAt : end;
}

/** A key is issued for a time to come. EXPIRES_AT_IN_PAST. */
export function requireFutureExpiry(expiresAt: Date | undefined, now: Date): void {
  if (!expiresAt || expiresAt > now) return;
  throw invalidArgument('EXPIRES_AT_IN_PAST', 'expires_at: must be in the future', { field: 'expires_at' });
}
