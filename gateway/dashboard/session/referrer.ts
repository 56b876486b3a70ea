import type { FastifyRequest } from 'fastify';
import { returnPathOf } from '../sign-in/return-path.ts';

/** Path and query of the page that a request comes from; undefined for none, and for one of another host. */
export function referrerPathOf({
  headers,
  host,
}: Pick<FastifyRequest, 'headers' | 'host'>): string | undefined {
  const referrer = URL.parse(headers.referer ?? '');
  return referrer?.host === host ? returnPathOf(`${referrer.pathname}${referrer.search}`) : undefined;
}
