const ANY_ORIGIN = 'http://dashboard.invalid';
const LONGEST = 500;

/** The path and query to come back to, as it was asked for; `/` for whatever could lead to another site. */
export function returnPathOf(asked: unknown): string {
  if (typeof asked !== 'string' || asked.length > LONGEST || !/^\/[\x21-\x5b\x5d-\x7e]*$/.test(asked))
    return '/';
  const { origin, pathname, search } = URL.parse(asked, ANY_ORIGIN) ?? new URL(ANY_ORIGIN);
  // The parser takes dots away: `/.//evil.example` would leave the host that it names at the front.
  return origin === ANY_ORIGIN && !pathname.startsWith('//') ? `${pathname}${search}` : '/';
}
