/** How long an idempotency key's answer is replayed, in SQL. */
export const RECORD_LIFETIME = "interval '24 hours'";
