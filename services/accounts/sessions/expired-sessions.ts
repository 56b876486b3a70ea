import { expiredRows } from '../../platform/process/expired-rows.ts';

/** Deletes the sessions that ended or expired thirty days ago: ending a session sets its expires_at too. */
export const expiredSessions = expiredRows({
  name: 'expired-sessions',
  table: 'accounts.session',
  since: 'expires_at',
  age: "interval '30 days'",
});
