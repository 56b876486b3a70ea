import type { FastifyRequest } from 'fastify';
import { callAsPerson } from '../dashboard-caller.ts';
import { requireOwnForm } from '../session/own-form.ts';
import { clearSessionCookie, sessionTokenOf } from '../session/session-cookie.ts';
import type { RouteDependencies } from '../shell/dependencies.ts';
import { sendPage } from '../shell/layout.ts';
import type { OpenIdClient } from './open-id-client.ts';
import { signedOutPage } from './sign-in.page.ts';

/** The page after sign-out; with `?everywhere` when all sessions ended. */
export const SIGNED_OUT_PATH = '/signed-out';

export function signOutRoutes(
  { app, guard, accounts }: RouteDependencies,
  provider: OpenIdClient,
  providerName: string,
): void {
  const preValidation = async (request: FastifyRequest) => requireSessionsForm(request);
  app.post('/sign-out', { preValidation }, async (request, reply) => {
    // Even if ending the session fails, this browser no longer has it. A form of another site comes without the cookie, and
    // must not clear it.
    if (sessionTokenOf(request) !== undefined) clearSessionCookie(reply);
    const person = await guard.findPerson(request);
    if (person) {
      const { accountId, sessionId } = person;
      await accounts.endSession({ accountId, sessionId }, callAsPerson(request));
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

/** Without a session there is no CSRF token to check, and nothing to sign out of. */
function requireSessionsForm(request: FastifyRequest): void {
  if (sessionTokenOf(request) !== undefined) requireOwnForm(request);
}
