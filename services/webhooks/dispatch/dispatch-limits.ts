/** A batch is handed out again when it is not reported by then. */
export const BATCH_LEASE_MS = 60_000;
/** A retry that is so long overdue, and has not been handed out so recently, has lost its workflow. */
export const OVERDUE_AFTER_MS = 120_000;
/** A retry attempt counts as under way so long: its deadline of 15 s, and 5 s for its report. */
export const RETRY_BUSY_MS = 20_000;

/**
 * What one subscription may have under way. Several slow ones keep it out of batches until they end, so that an
 * endpoint that hangs holds few places of a worker, while a fast one fills them.
 */
export const MAX_BUSY = 200;
export const MAX_SLOW = 10;
export const SLOW_AFTER_MS = 250;

/** The least share of a subscription in a batch; the others that wait take the rest. */
export const MIN_SHARE = 10;
/** Waiting deliveries looked at for one batch: more than it takes, so that others take what some leave of a share. */
export const MOST_LOOKED_AT = 1_000;
/** Subscriptions looked at for one batch, and events taken in with it. */
export const MAX_SUBSCRIPTIONS = 100;
export const MAX_EVENTS = 200;
/** Held deliveries of one subscription that flow again with each look. */
export const MAX_RELEASED = 100;
/** Batches whose lease has ended, nearly all of them done, and overdue retries taken with each look. */
export const MAX_BATCHES_AGAIN = 200;
export const MAX_RETRIES_AGAIN = 100;
