import { setTimeout as delay } from 'node:timers/promises';
import { Code } from '@connectrpc/connect';

export interface RetryingOptions {
  /** From the first failure on; then the last error is thrown. */
  readonly forMs: number;
  /** The code an error carries, of Connect or gRPC: they are the same numbers. */
  readonly codeOf: (error: unknown) => Code | undefined;
  readonly signal?: AbortSignal;
}

/** What the same call would be answered again; all other failures may pass. */
const REFUSALS: ReadonlySet<Code | undefined> = new Set([
  Code.InvalidArgument,
  Code.NotFound,
  Code.AlreadyExists,
  Code.PermissionDenied,
  Code.FailedPrecondition,
  Code.OutOfRange,
  Code.Unimplemented,
  Code.Unauthenticated,
]);

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** Repeats a call that fails for a passing reason, with growing pauses. */
export async function retrying<T>(call: () => Promise<T>, options: RetryingOptions): Promise<T> {
  const { forMs, codeOf, signal } = options;
  let giveUpAt = Number.POSITIVE_INFINITY;
  for (let failures = 0; ; failures += 1) {
    try {
      return await call();
    } catch (error) {
      giveUpAt = Math.min(giveUpAt, performance.now() + forMs);
      if (REFUSALS.has(codeOf(error)) || signal?.aborted || performance.now() >= giveUpAt) throw error;
    }
    await pause(failures, signal);
  }
}

/** Waits the longer the more failures there were, from 0.1 s to 5 s; the signal ends it early. */
export async function pause(failures: number, signal?: AbortSignal): Promise<void> {
  const ms = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
  const jittered = ms * (0.8 + 0.2 * Math.random());
  await delay(jittered, undefined, signal && { signal }).catch(() => undefined);
}
