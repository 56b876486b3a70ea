import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GatewayApp } from '../../gateway-app.ts';
import { Failure } from '../shell/failures.ts';
import { isCsrfToken, sessionTokenOf } from './session-cookie.ts';
import type { SessionGuard } from './session-guard.ts';

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

/** The hooks of a route for a form of the signed-in person. */
export function ownFormHooks(guard: SessionGuard) {
  return {
    onRequest: (request: FastifyRequest, reply: FastifyReply) => guard.requireSession(request, reply),
    preValidation: async (request: FastifyRequest) => requireOwnForm(request),
  };
}

/** Redirects a GET of a form's URL, which the browser shows after a refusal, to the page with the form. */
export function redirectFormUrl(app: GatewayApp, formPath: string, page: string): void {
  app.get(formPath, async (_request, reply) => reply.redirect(page, 303));
}
