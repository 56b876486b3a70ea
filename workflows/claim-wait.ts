/** How long a claim waits for work. */
export const CLAIM_WAIT_MS = 10_000;
/** How much longer its caller waits for the answer. */
const CLAIM_MARGIN_MS = 5_000;

/** Call options of a claim that waits `waitMs` for work. */
export const claimCall = (waitMs: number, signal: AbortSignal) => ({
  signal,
  timeoutMs: waitMs + CLAIM_MARGIN_MS,
});
