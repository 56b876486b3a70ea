import type { FastifyRequest } from 'fastify';

const ANY_ORIGIN = 'http://dashboard.invalid';
const MAX_LENGTH = 500;

/** The requested path and query to return to; `/` for anything that could lead to another site. */
export function returnPathOf(requested: unknown): string {
  if (typeof requested !== 'string' || requested.length > MAX_LENGTH) return '/';
  if (!/^\/[\x21-\x5b\x5d-\x7e]*$/.test(requested)) return '/';
  const { origin, pathname, search } = URL.parse(requested, ANY_ORIGIN) ?? new URL(ANY_ORIGIN);
  // Parsing removes dot segments: `/.//evil.example` would become `//evil.example`, another host.
  return origin === ANY_ORIGIN && !pathname.startsWith('//') ? `${pathname}${search}` : '/';
}

/**
 * Path and query of the referring page; undefined without one, or when it belongs to another host. Behind a proxy, the
 * Host header may differ, so the browser's word counts too.
 */
export function referrerPathOf({
  headers,
  host,
}: Pick<FastifyRequest, 'headers' | 'host'>): string | undefined {
  const referrer = URL.parse(headers.referer ?? '');
  const isOwn = referrer?.host === host || headers['sec-fetch-site'] === 'same-origin';
  return referrer && isOwn ? returnPathOf(`${referrer.pathname}${referrer.search}`) : undefined;
}
