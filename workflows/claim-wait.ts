/** How long a lane waits for work, and how much longer for the answer. */
export const CLAIM_WAIT_MS = 10_000;
const CLAIM_MARGIN_MS = 5_000;

/** Options of a claim that waits so long. */
export const claimCall = (waitMs: number, signal: AbortSignal) => ({
  signal,
  timeoutMs: waitMs + CLAIM_MARGIN_MS,
});
