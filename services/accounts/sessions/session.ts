import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';

/** The limits of sessions, in milliseconds. */
export interface SessionLimits {
  /** A session expires after this time without a request. */
  readonly idleMs: number;
  /** A session expires this long after it started, in any case. */
  readonly lifetimeMs: number;
}

type SessionState = 'OPEN' | 'EXPIRED' | 'ENDED';

/** The times that determine a session's state. */
export interface SessionTimes {
  readonly last_seen_at: Timestamp;
  readonly expires_at: Timestamp;
  readonly ended_at: Timestamp | null;
}

/** The state of a session at a point in time. It is expired at the time of its expiry itself. */
export function stateOf(session: SessionTimes, now: Date, { idleMs }: SessionLimits): SessionState {
  if (session.ended_at) return 'ENDED';
  const idleAt = timestampMs(session.last_seen_at) + idleMs;
  return Math.min(idleAt, timestampMs(session.expires_at)) <= now.getTime() ? 'EXPIRED' : 'OPEN';
}

/** The bounds of open sessions: they expire after `now` and were last seen after `seenAfter`. */
export function openBounds(now: Date, { idleMs }: SessionLimits) {
  return { now, seenAfter: new Date(now.getTime() - idleMs) };
}
