/** How long a claim waits for work, and so how long stopping the relay may take, since it does not cancel a claim. */
export const CLAIM_WAIT_MS = 2_000;
/** How much longer its caller waits for the answer. */
const CLAIM_MARGIN_MS = 5_000;

/** Call options of a claim that waits `waitMs` for work. */
export const claimCall = (waitMs: number) => ({ timeoutMs: waitMs + CLAIM_MARGIN_MS });
