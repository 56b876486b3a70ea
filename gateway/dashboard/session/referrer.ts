import type { FastifyRequest } from 'fastify';
import { returnPathOf } from '../sign-in/return-path.ts';

/** Path and query of the referring page; undefined without one, or when it belongs to another host. */
export function referrerPathOf({
  headers,
  host,
}: Pick<FastifyRequest, 'headers' | 'host'>): string | undefined {
  const referrer = URL.parse(headers.referer ?? '');
  return referrer?.host === host ? returnPathOf(`${referrer.pathname}${referrer.search}`) : undefined;
}
