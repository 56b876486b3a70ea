import type { FastifyRequest } from 'fastify';
import { callFor } from '../../clients.ts';
import { clearSessionCookie, sessionTokenOf } from '../session/session-cookie.ts';
import type { FeatureDependencies } from '../shell/feature.ts';
import { sendPage } from '../shell/layout.ts';
import { requireOwnForm } from '../shell/pages.ts';
import type { OpenIdClient } from './open-id-client.ts';
import { signedOutPage } from './sign-in.pages.ts';

/** Where people arrive who signed out; with `?everywhere` in all their browsers. */
export const SIGNED_OUT_PATH = '/signed-out';

/** The way out: POST /sign-out, GET /signed-out. */
export function signOutRoutes(
  { app, guard, clients }: FeatureDependencies,
  provider: OpenIdClient,
  providerName: string,
): void {
  const preValidation = async (request: FastifyRequest) => requireSessionsForm(request);
  app.post('/sign-out', { preValidation }, async (request, reply) => {
    // Whatever becomes of the session, this browser is without it.
    clearSessionCookie(reply);
    const person = await guard.visitorOf(request);
    if (person) {
      const { accountId, sessionId } = person;
      await clients.accounts.endSession({ accountId, sessionId }, callFor(request));
    }
    return reply.redirect(SIGNED_OUT_PATH, 303);
  });

  app.get(SIGNED_OUT_PATH, async (request, reply) => {
    const view = guard.plainViewOf(request);
    const everywhere = 'everywhere' in (request.query as object);
    const endSessionUrl = await provider.endSessionUrl();
    return sendPage(reply, view, signedOutPage(view, { everywhere, providerName, endSessionUrl }));
  });
}

/** Who has no session has nothing to sign out of, and no form to prove it with. */
function requireSessionsForm(request: FastifyRequest): void {
  if (sessionTokenOf(request) !== undefined) requireOwnForm(request);
}
