/** How long a claim waits for work: as long as the relay may need to stop, since it ends no claim that is under way. */
export const CLAIM_WAIT_MS = 2_000;
/** How much longer its caller waits for the answer. */
const CLAIM_MARGIN_MS = 5_000;

/** Call options of a claim that waits `waitMs` for work. */
export const claimCall = (waitMs: number) => ({ timeoutMs: waitMs + CLAIM_MARGIN_MS });
