import { setTimeout as delay } from 'node:timers/promises';
import type { CrossTenantDatabase } from '../../platform/database/cross-tenant-database.ts';
import { type RetryState, readRetryState } from './retry-state.ts';

/** The first wait between two looks: most attempts end soon, but one that hangs takes 15 s. */
const FIRST_POLL_MS = 25;
const MAX_POLL_MS = 1_000;

/** Waits for the end of an attempt. @returns whether it has ended, and the state of the delivery. */
export async function awaitAttempt(
  db: CrossTenantDatabase,
  { id, attemptNumber, waitMs }: { id: string; attemptNumber: number; waitMs: number },
  signal: AbortSignal,
): Promise<{ readonly ended: boolean; readonly state: RetryState }> {
  const endsAt = performance.now() + waitMs;
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 2, MAX_POLL_MS)) {
    const state = await readRetryState(db.run, id);
    const ended = hasEnded(state, attemptNumber);
    const leftMs = endsAt - performance.now();
    if (ended || leftMs <= 0 || signal.aborted) return { ended, state };
    await delay(Math.min(pollMs, leftMs), undefined, { signal }).catch(() => undefined);
  }
}

/** An attempt that is recorded as in flight has not ended; one that is no longer requested will never be made. */
function hasEnded({ status, requested, attemptCount, last }: RetryState, attemptNumber: number): boolean {
  if (status !== 'RETRYING') return true;
  if (attemptCount < attemptNumber) return !requested;
  return attemptCount > attemptNumber || last?.httpStatus !== undefined || last?.failure !== undefined;
}
