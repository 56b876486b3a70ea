const MAX_LENGTH = 300;

/**
 * The target of a Location header as scheme, host, port and path, without the query, which may hold secrets.
 * @param url the URL that was called, which a relative Location refers to.
 * @returns undefined for a missing or malformed header.
 */
export function redirectLocation(location: string | undefined, url: string): string | undefined {
  const target = location === undefined ? null : URL.parse(location, url);
  return target ? `${target.protocol}//${target.host}${target.pathname}`.slice(0, MAX_LENGTH) : undefined;
}
