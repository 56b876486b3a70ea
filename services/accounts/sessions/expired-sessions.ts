import { expiredRows } from '../../platform/process/expired-rows.ts';

/** Deletes the sessions that ended or expired thirty days ago: ending a session sets its expires_at too. */
export const expiredSessions = expiredRows({
  name: 'expired-sessions',
  table: 'accounts.session',
  since: 'expires_at',
  age: "interval '30 days'",
});

/** Deletes the mirrors of sessions that have expired: nothing can be written with them. */
export const expiredSessionMirrors = expiredRows({
  name: 'expired-session-mirrors',
  table: 'platform.session',
  since: 'expires_at',
  age: "interval '1 day'",
});
