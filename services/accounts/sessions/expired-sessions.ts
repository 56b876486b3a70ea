import { countAffectedNamed } from '../../platform/database/named-sql.ts';
import type { PeriodicTask } from '../../platform/process/periodic-tasks.ts';

const BATCH_ROWS = 1_000;

/** Deletes the oldest, found by the index on expires_at. Ending a session sets its expires_at too. */
const DELETE_BATCH = `
delete from accounts.session where ctid = any(array(
  select ctid from accounts.session
   where expires_at < now() - interval '30 days'
   order by expires_at limit :limit for update skip locked))`;

/** Deletes the sessions that ended or expired more than thirty days ago. */
export const expiredSessions: PeriodicTask = {
  name: 'forgotten-sessions',
  intervalMs: 60_000,
  async runBatch(em) {
    const rows = await countAffectedNamed(em, DELETE_BATCH, { limit: BATCH_ROWS });
    return { rows, more: rows === BATCH_ROWS };
  },
};
