import { setTimeout as delay } from 'node:timers/promises';
import { Code } from '@connectrpc/connect';
import { REFUSALS } from './final-refusal.ts';

export interface RetryingOptions {
  /** How long to retry, from the first failure on. After that the last error is thrown. */
  readonly forMs: number;
  /** The error's code. Connect and gRPC use the same numbers. */
  readonly codeOf: (error: unknown) => Code | undefined;
  readonly signal?: AbortSignal;
}

/** Codes that a retry would get again: refusals, and calls for which this process lacks configuration. */
const PERMANENT: ReadonlySet<Code | undefined> = new Set([
  ...REFUSALS,
  Code.PermissionDenied,
  Code.Unimplemented,
  Code.Unauthenticated,
]);

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** Retries a call that fails for a temporary reason, with exponential backoff. */
export async function retrying<T>(call: () => Promise<T>, options: RetryingOptions): Promise<T> {
  const { forMs, codeOf, signal } = options;
  let giveUpAt = Number.POSITIVE_INFINITY;
  for (let failures = 0; ; failures += 1) {
    try {
      return await call();
    } catch (error) {
      giveUpAt = Math.min(giveUpAt, performance.now() + forMs);
      if (PERMANENT.has(codeOf(error)) || signal?.aborted || performance.now() >= giveUpAt) throw error;
    }
    await backOff(failures, signal);
  }
}

/** Waits before the next retry: from 0.1 s after the first failure up to 5 s. The signal ends the wait early. */
export async function backOff(failures: number, signal?: AbortSignal): Promise<void> {
  const ms = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
  const jittered = ms * (0.8 + 0.2 * Math.random());
  await delay(jittered, undefined, signal && { signal }).catch(() => undefined);
}
