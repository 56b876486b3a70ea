import { countAffectedNamed } from '../database/named-sql.ts';
import type { MaintenanceTask } from '../process/maintenance.ts';
import { RECORD_LIFETIME } from './record-lifetime.ts';

const BATCH_ROWS = 1_000;

/**
 * The oldest records past their lifetime, found by the index on created_at. A record that a write is renewing at this
 * moment is passed over, and its write does not wait.
 */
const DELETE_BATCH = `
delete from platform.idempotency_record where ctid = any(array(
  select ctid from platform.idempotency_record
   where created_at <= now() - ${RECORD_LIFETIME}
   order by created_at limit :limit for update skip locked))`;

/** Deletes the idempotency records that no longer count, a batch at a step. */
export const expiredIdempotencyRecords: MaintenanceTask = {
  name: 'expired-idempotency-records',
  async step(em) {
    const rows = await countAffectedNamed(em, DELETE_BATCH, { limit: BATCH_ROWS });
    return { rows, more: rows === BATCH_ROWS };
  },
};
