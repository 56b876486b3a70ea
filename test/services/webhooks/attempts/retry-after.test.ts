import { describe, expect, it } from 'vitest';
import { MAX_RETRY_AFTER_MS } from '../../../../services/webhooks/attempts/attempt-limits.ts';
import { parseRetryAfter } from '../../../../services/webhooks/attempts/exchange.ts';

const NOW = Date.UTC(2026, 1, 3, 8, 0, 0);

describe('reading Retry-After', () => {
  it.each([
    ['0', 0],
    ['120', 120_000],
    [' 7 ', 7000],
    ['86400', MAX_RETRY_AFTER_MS],
    ['86401', MAX_RETRY_AFTER_MS],
    ['99999999999999999999999999', MAX_RETRY_AFTER_MS],
    ['Tue, 03 Feb 2026 08:02:00 GMT', 120_000],
    ['Tuesday, 03-Feb-26 08:02:00 GMT', 120_000],
    ['Tue Feb  3 08:02:00 2026', 120_000],
    ['Tue, 03 Feb 2026 07:00:00 GMT', 0],
    ['Wed, 03 Feb 2027 08:00:00 GMT', MAX_RETRY_AFTER_MS],
  ])('reads %j as %d ms', (header, waitMs) => {
    expect(parseRetryAfter(header, NOW)).toBe(waitMs);
  });

  it.each([
    undefined,
    '',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    'soon',
    'Tue',
    'Tue, never',
    'after Tue, 03 Feb 2026 08:02:00 GMT',
    '2026-02-03T08:02:00Z',
    '120, 240',
  ])('ignores %j', (header) => {
    expect(parseRetryAfter(header, NOW)).toBeUndefined();
  });
});
