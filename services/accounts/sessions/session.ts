import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';

/** How long sessions live, in milliseconds. */
export interface SessionLimits {
  /** Without a request. */
  readonly idleMs: number;
  /** In any case. */
  readonly lifetimeMs: number;
}

type SessionState = 'OPEN' | 'EXPIRED' | 'ENDED';

/** What decides whether a session is still open. */
export interface SessionLife {
  readonly last_seen_at: Timestamp;
  readonly expires_at: Timestamp;
  readonly ended_at: Timestamp | null;
}

/** The state of a session at a time; it has expired from the very millisecond of its expiry on. */
export function stateOf(session: SessionLife, now: Date, { idleMs }: SessionLimits): SessionState {
  if (session.ended_at) return 'ENDED';
  const idleAt = timestampMs(session.last_seen_at) + idleMs;
  return Math.min(idleAt, timestampMs(session.expires_at)) <= now.getTime() ? 'EXPIRED' : 'OPEN';
}

/** The times that bound open sessions: they expire after `now` and were seen after `seenAfter`. */
export function openBounds(now: Date, { idleMs }: SessionLimits) {
  return { now, seenAfter: new Date(now.getTime() - idleMs) };
}
