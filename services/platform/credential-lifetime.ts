import { sql } from 'kysely';
import { type DomainError, invalidArgument } from './errors.ts';

export type CredentialState = 'ACTIVE' | 'EXPIRED' | 'REVOKED';

/** The times that determine the state of an API key or a service token. */
export interface CredentialLifetime {
  readonly expiresAt?: Date | null;
  readonly revokedAt?: Date | null;
}

/** The state of a credential at a point in time. It is expired at `expiresAt` itself. */
export function stateOf(credential: CredentialLifetime, now: Date): CredentialState {
  if (credential.revokedAt) return 'REVOKED';
  return credential.expiresAt && credential.expiresAt <= now ? 'EXPIRED' : 'ACTIVE';
}

/** The state of a row with a credential's times, like {@link stateOf} at the time of the statement. */
export const CREDENTIAL_STATE = sql<CredentialState>`
  case when revoked_at is not null then 'REVOKED' when expires_at <= now() then 'EXPIRED' else 'ACTIVE' end`;

/**
 * When a rotated credential expires: after the overlap, but never later than before.
 * @param stateError the error for one that is not active.
 */
export function rotatedExpiry(
  credential: CredentialLifetime,
  { now, overlapSeconds }: { readonly now: Date; readonly overlapSeconds: number },
  stateError: (state: CredentialState) => DomainError,
): Date {
  const state = stateOf(credential, now);
  if (state !== 'ACTIVE') throw stateError(state);
  const end = new Date(now.getTime() + overlapSeconds * 1_000);
  return credential.expiresAt && credential.expiresAt < end ? credential.expiresAt : end;
}

/** The expiry of a new credential must be in the future. EXPIRES_AT_IN_PAST. */
export function requireFutureExpiry(expiresAt: Date | undefined, now: Date): void {
  if (!expiresAt || expiresAt > now) return;
  throw invalidArgument('EXPIRES_AT_IN_PAST', 'expires_at: must be in the future', { field: 'expires_at' });
}
