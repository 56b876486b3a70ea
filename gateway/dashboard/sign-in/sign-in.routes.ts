import type { FastifyReply, FastifyRequest } from 'fastify';
import { callFor } from '../../clients.ts';
import { sendPage } from '../layout.ts';
import { requireOwnForm } from '../pages.ts';
import type { RoomDependencies } from '../room.ts';
import { clearSessionCookie, sessionTokenOf } from '../session-cookie.ts';
import { SIGN_IN_PATH } from '../session-door.ts';
import { OpenIdClient } from './open-id-client.ts';
import { returnPathOf } from './return-path.ts';
import { faultPage, signedOutPage, signInPage } from './sign-in.pages.ts';
import { describeFault, faultOf } from './sign-in-faults.ts';
import { beginFlow, endFlow } from './sign-in-flows.ts';
import { startSession } from './start-session.ts';

/** Where the provider sends people back to. */
export const CALLBACK_PATH = `${SIGN_IN_PATH}/callback`;
/** Where people arrive who signed out; with `?everywhere` in all their browsers. */
export const SIGNED_OUT_PATH = '/signed-out';

/** The ways in and out: GET /sign-in, /sign-in/start, /sign-in/callback and /signed-out, POST /sign-out. */
export function signInRoutes({ app, door, clients, config, baseUrl }: RoomDependencies): void {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = config;
  if (issuer === undefined) throw new Error('a dashboard needs OIDC_ISSUER');
  const redirectUri = () => `${baseUrl()}${CALLBACK_PATH}`;
  const provider = new OpenIdClient({ issuer, clientId, clientSecret, redirectUri });
  const providerName = new URL(issuer).host;

  /** Cookies are one host's, and the provider sends people back to this one. */
  const leadHome = (request: FastifyRequest, reply: FastifyReply): boolean => {
    if (request.host === new URL(baseUrl()).host) return false;
    reply.redirect(`${baseUrl()}${request.url}`, 303);
    return true;
  };
  const refuse = async (request: FastifyRequest, reply: FastifyReply, error: unknown) => {
    const fault = faultOf(error);
    if (fault === undefined) throw error;
    request.log.warn({ requestId: request.id, fault, err: describeFault(error) }, 'nobody was signed in');
    return sendPage(
      reply,
      door.plainViewOf(request),
      faultPage(door.plainViewOf(request), fault, request.id),
    );
  };

  app.get(SIGN_IN_PATH, async (request, reply) => {
    if (leadHome(request, reply)) return reply;
    const returnPath = askedReturn(request);
    if (await door.visitorOf(request)) return reply.redirect(returnPath, 303);
    const view = door.plainViewOf(request);
    return sendPage(reply, view, signInPage(view, providerName, returnPath));
  });

  app.get(`${SIGN_IN_PATH}/start`, async (request, reply) => {
    if (leadHome(request, reply)) return reply;
    try {
      const flow = beginFlow(request, reply, askedReturn(request));
      return reply.redirect(await provider.authorizationUrl(flow, door.plainViewOf(request).language), 303);
    } catch (error) {
      return refuse(request, reply, error);
    }
  });

  app.get(CALLBACK_PATH, async (request, reply) => {
    const flow = endFlow(request, reply, (request.query as { state?: unknown }).state);
    const view = door.plainViewOf(request);
    if (!flow) return sendPage(reply, view, faultPage(view, 'stale', request.id));
    try {
      const identity = await provider.identify(new URL(request.url, baseUrl()).search, flow);
      await startSession(clients, identity, request, reply);
      return reply.redirect(flow.returnPath, 303);
    } catch (error) {
      return refuse(request, reply, error);
    }
  });

  app.post(
    '/sign-out',
    { preValidation: async (request) => requireSession(request) },
    async (request, reply) => {
      const person = await door.visitorOf(request);
      if (person) {
        const { accountId, sessionId } = person;
        await clients.accounts.endSession({ accountId, sessionId }, callFor(request));
      }
      clearSessionCookie(reply);
      return reply.redirect(SIGNED_OUT_PATH, 303);
    },
  );

  app.get(SIGNED_OUT_PATH, async (request, reply) => {
    const view = door.plainViewOf(request);
    const everywhere = 'everywhere' in (request.query as object);
    const endSessionUrl = await provider.endSessionUrl();
    return sendPage(reply, view, signedOutPage(view, { everywhere, providerName, endSessionUrl }));
  });
}

const askedReturn = ({ query }: FastifyRequest) => returnPathOf((query as { return?: unknown }).return);

/** Who has no session has nothing to sign out of, and no form to prove it with. */
function requireSession(request: FastifyRequest): void {
  if (sessionTokenOf(request) !== undefined) requireOwnForm(request);
}
