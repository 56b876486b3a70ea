import { DAY_MS } from '../../platform/durations.ts';

/** The deadline of one attempt: for connecting, sending and the whole response. */
export const ATTEMPT_TIMEOUT_MS = 15_000;

/** An attempt whose end is not reported within this time after its deadline counts as lost. */
export const LOST_AFTER_MS = 5_000;

/** The longest Retry-After that is respected: 24 hours. */
export const MAX_RETRY_AFTER_MS = DAY_MS;
