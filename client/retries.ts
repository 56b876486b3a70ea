import { ApiError, ConnectionError } from './errors.ts';

const RETRIED_STATUSES: readonly number[] = [408, 429, 500, 503, 504];
const FIRST_WAIT_MS = 1_000;
/** Callers would rather get the error than wait longer. */
const MAX_RETRY_AFTER_SECONDS = 60;

/** Whether the same request can succeed when it is repeated, by the rules of the API's guide about errors. */
export function isRetryable(failure: unknown): failure is ApiError | ConnectionError {
  if (failure instanceof ConnectionError) return true;
  if (!(failure instanceof ApiError)) return false;
  if ((failure.retryAfterSeconds ?? 0) > MAX_RETRY_AFTER_SECONDS) return false;
  return RETRIED_STATUSES.includes(failure.status) || failure.code === 'IDEMPOTENCY_KEY_IN_USE';
}

/**
 * How long to wait before a retry, counted from 0: as long as the API asks for, otherwise one second, doubled with each
 * retry. Up to a quarter is added at random, so that clients that failed together do not return together.
 */
export function retryDelayMs(failure: ApiError | ConnectionError, retry: number): number {
  const asked = failure instanceof ApiError ? failure.retryAfterSeconds : undefined;
  const waitMs = asked === undefined ? FIRST_WAIT_MS * 2 ** retry : asked * 1_000;
  return waitMs * (1 + Math.random() / 4);
}

/** The seconds of a Retry-After header: the API sends a number, proxies may send a date. */
export function retryAfterSecondsOf(headers: Headers): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  // `Date.parse` takes other texts for dates, too: 1.5 would be in January 2001.
  const dateMs = text.endsWith(' GMT') ? Date.parse(text) : Number.NaN;
  return Number.isNaN(dateMs) ? undefined : Math.max(0, (dateMs - Date.now()) / 1_000);
}

/** Waits; rejects with the reason of the signal as soon as it aborts. */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
