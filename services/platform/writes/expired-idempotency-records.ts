import { expiredRows } from '../process/expired-rows.ts';
import { RECORD_LIFETIME } from './idempotency-records.ts';

/** Deletes idempotency records past their lifetime. A write that reuses an expired key renews its record. */
export const expiredIdempotencyRecords = expiredRows({
  name: 'expired-idempotency-records',
  table: 'platform.idempotency_record',
  since: 'created_at',
  age: RECORD_LIFETIME,
});
