/** How long the response of an idempotency key is replayed, as SQL. */
export const RECORD_LIFETIME = "interval '24 hours'";
