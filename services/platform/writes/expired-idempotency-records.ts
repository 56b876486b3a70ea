import { countAffectedNamed } from '../database/named-sql.ts';
import type { PeriodicTask } from '../process/periodic-tasks.ts';
import { RECORD_LIFETIME } from './record-lifetime.ts';

const BATCH_ROWS = 1_000;

/**
 * Deletes the oldest records past their lifetime, found by the index on created_at. Skips a record that a write is
 * renewing at this moment, so that neither waits for the other.
 */
const DELETE_BATCH = `
delete from platform.idempotency_record where ctid = any(array(
  select ctid from platform.idempotency_record
   where created_at <= now() - ${RECORD_LIFETIME}
   order by created_at limit :limit for update skip locked))`;

/** Deletes idempotency records past their lifetime. */
export const expiredIdempotencyRecords: PeriodicTask = {
  name: 'expired-idempotency-records',
  intervalMs: 60_000,
  async runBatch(em) {
    const rows = await countAffectedNamed(em, DELETE_BATCH, { limit: BATCH_ROWS });
    return { rows, more: rows === BATCH_ROWS };
  },
};
