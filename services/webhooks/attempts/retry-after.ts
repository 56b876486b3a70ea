import { MAX_RETRY_AFTER_MS } from '../../contracts/webhooks/delivery-limits.ts';

const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/**
 * Reads a Retry-After header: seconds or an HTTP-date in any of its three forms (RFC 9110, 5.6.7 and 10.2.3).
 * @returns milliseconds from now, 0 to 24 hours; undefined for a missing or malformed header.
 */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : untilHttpDate(text, nowMs);
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), MAX_RETRY_AFTER_MS);
}

function untilHttpDate(text: string, nowMs: number): number {
  if (!HTTP_DATE.test(text)) return Number.NaN;
  // The asctime form names no zone and means UTC.
  return Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`) - nowMs;
}
