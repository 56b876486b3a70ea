/** Hostile values, and some that are only odd. */
export const HOSTILE: readonly string[] = [
  '',
  ' ',
  '0',
  '-1',
  '1e999',
  'NaN',
  'null',
  'undefined',
  'true',
  '[]',
  '{}',
  '__proto__',
  'constructor',
  '"><img src=x onerror=alert(1)>',
  '</script><img src=x>',
  "'; drop table accounts.member; --",
  '\u0000',
  '\r\nset-cookie: __Host-session=x',
  '\u202e',
  '\ud83d\udca3',
  'x'.repeat(5_000),
  '9999-99-99',
  '2026-11-21',
  '0000-01',
  '9999-12',
  '2026-11-21T00:00',
  '9999-12-31T23:59:59Z',
  'https://evil.example',
  '99999999999999999999999',
  '//evil.example',
  '../../audit',
  '%',
  '%ff',
];

/**
 * The next `count` values, round robin: where many targets share the code that reads a value, each gets some of the
 * values, and together they get all.
 */
export function someOf<T>(values: readonly T[], turn: number, count: number): T[] {
  const length = Math.min(count, values.length);
  return Array.from({ length }, (_, index) => values[(turn * length + index) % values.length]!);
}
