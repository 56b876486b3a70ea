/** The limits of sessions, in milliseconds. */
export interface SessionLimits {
  /** A session expires after this time without a request. */
  readonly idleMs: number;
  /** A session expires this long after it started, in any case. */
  readonly lifetimeMs: number;
  /** The sessions that an account may start within ten minutes. */
  readonly maxSignIns: number;
}

/** The bounds of open sessions: they expire after `now` and were last seen after `seenAfter`. */
export function openBounds(now: Date, { idleMs }: SessionLimits) {
  return { now, seenAfter: new Date(now.getTime() - idleMs) };
}
