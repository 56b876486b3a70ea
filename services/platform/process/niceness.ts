/**
 * The niceness of Temporal's server and of a worker process. On a full machine, requests and first attempts of deliveries
 * go before retries, which are most of what those two do. Each keeps a tenth of the processor that it competes for.
 */
export const BACKGROUND_NICENESS = 10;
