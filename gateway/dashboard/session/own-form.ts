import type { FastifyRequest } from 'fastify';
import { Failure } from '../shell/failures.ts';
import { isCsrfToken, sessionTokenOf } from './session-cookie.ts';

/**
 * Rejects a form that another site or another session sent.
 * @throws Failure 403
 */
export function requireOwnForm(request: FastifyRequest): void {
  const token = sessionTokenOf(request);
  const { _csrf: given } = (request.body ?? {}) as { _csrf?: unknown };
  const site = request.headers['sec-fetch-site'];
  const isCrossSite = site !== undefined && site !== 'same-origin';
  if (token === undefined || isCrossSite || !isCsrfToken(token, given)) throw Failure.of(403, 'staleForm');
}
