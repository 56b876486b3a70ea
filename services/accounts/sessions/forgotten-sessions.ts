import { countAffectedNamed } from '../../platform/database/named-sql.ts';
import type { MaintenanceTask } from '../../platform/process/maintenance.ts';

const BATCH_ROWS = 1_000;

/** The oldest that are over, by the index on expires_at: a session that was ended expired when it was. */
const DELETE_BATCH = `
delete from accounts.session where ctid = any(array(
  select ctid from accounts.session
   where expires_at < now() - interval '30 days'
   order by expires_at limit :limit for update skip locked))`;

/** Deletes the sessions that ended or expired thirty days ago, a batch at a step. */
export const forgottenSessions: MaintenanceTask = {
  name: 'forgotten-sessions',
  async step(em) {
    const rows = await countAffectedNamed(em, DELETE_BATCH, { limit: BATCH_ROWS });
    return { rows, more: rows === BATCH_ROWS };
  },
};
