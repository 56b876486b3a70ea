import { getPriority, setPriority } from 'node:os';

/**
 * How much nicer than others Temporal's server and a worker process are. On a full machine, requests and first attempts of
 * deliveries go before retries, which are most of what those two do. Each keeps a tenth of the processor that it competes for.
 */
export const BACKGROUND_NICENESS = 10;
const LOWEST_PRIORITY = 19;

/** Makes this process nicer. Call it before anything starts threads: they have the niceness of the one that starts them. */
export function yieldToRequests(): void {
  // Never less nice than it was started, which only root may do.
  setPriority(Math.min(getPriority() + BACKGROUND_NICENESS, LOWEST_PRIORITY));
}
