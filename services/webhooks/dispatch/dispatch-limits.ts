import { ATTEMPT_TIMEOUT_MS, LOST_AFTER_MS } from '../../contracts/webhooks/delivery-limits.ts';

/** A retry that is overdue for so long, and was not requeued within that time, has lost its workflow. */
export const OVERDUE_AFTER_MS = 120_000;
/** How long a retry attempt counts as in flight: until it is reported, or lost. */
export const RETRY_IN_FLIGHT_MS = ATTEMPT_TIMEOUT_MS + LOST_AFTER_MS;

/**
 * Attempts that one subscription may have in flight, and how many of them may be slow. At the limit its deliveries wait,
 * so that an endpoint that hangs occupies little capacity of a worker, while a fast one may use all of it.
 */
export const MAX_IN_FLIGHT = 200;
export const MAX_SLOW = 10;
export const SLOW_AFTER_MS = 250;

/** Deliveries of a subscription that a batch may always contain; subscriptions share the rest. */
export const MIN_SHARE = 10;
/** Waiting deliveries considered for one batch: more than it claims, so that others use what some leave of their share. */
export const MAX_CANDIDATES = 1_000;
/** Subscriptions considered for one batch, and events fanned out with it. */
export const MAX_SUBSCRIPTIONS = 100;
export const MAX_EVENTS = 200;
/** Held deliveries of one subscription that each poll releases. */
export const MAX_RELEASED = 100;
/** Batches with an expired lease, nearly all of them done, and overdue retries that each poll requeues. */
export const MAX_REQUEUED_BATCHES = 200;
export const MAX_REQUEUED_RETRIES = 100;
