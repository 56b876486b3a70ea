import { unauthenticated } from '../errors.ts';

/** When a session was last used, and when it ends at the latest. */
interface SessionTimes {
  readonly lastSeenAt: Date;
  readonly expiresAt: Date;
}

/**
 * UNAUTHENTICATED (SESSION_EXPIRED) from the time of the session's expiry on.
 * @param idleMs the time without a request after which a session expires.
 */
export function requireUnexpired({ lastSeenAt, expiresAt }: SessionTimes, idleMs: number, now: Date): void {
  const endsAt = Math.min(lastSeenAt.getTime() + idleMs, expiresAt.getTime());
  if (endsAt <= now.getTime()) throw unauthenticated('SESSION_EXPIRED', 'the session has expired');
}

/** UNAUTHENTICATED: the session is unknown or has ended. */
export const sessionInvalid = () => unauthenticated('SESSION_INVALID', 'the session is invalid');
