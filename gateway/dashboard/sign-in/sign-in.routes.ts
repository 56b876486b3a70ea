import type { FastifyReply, FastifyRequest } from 'fastify';
import { SIGN_IN_PATH } from '../session/session-guard.ts';
import type { FeatureDependencies } from '../shell/feature.ts';
import { sendPage } from '../shell/layout.ts';
import { OpenIdClient } from './open-id-client.ts';
import { returnPathOf } from './return-path.ts';
import { faultPage, signInPage } from './sign-in.pages.ts';
import { describeFault, faultOf, type SignInFault } from './sign-in-faults.ts';
import { beginFlow, endFlow } from './sign-in-flows.ts';
import { signOutRoutes } from './sign-out.routes.ts';
import { startSession } from './start-session.ts';

/** Where the provider sends people back to. */
export const CALLBACK_PATH = `${SIGN_IN_PATH}/callback`;

/** The ways in and out: GET /sign-in, /sign-in/start, /sign-in/callback and /signed-out, POST /sign-out. */
export function signInRoutes(dependencies: FeatureDependencies): void {
  const { app, guard, clients, config, baseUrl } = dependencies;
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = config;
  if (issuer === undefined) throw new Error('a dashboard needs OIDC_ISSUER');
  const redirectUri = () => `${baseUrl()}${CALLBACK_PATH}`;
  const provider = new OpenIdClient({ issuer, clientId, clientSecret, redirectUri });
  const providerName = new URL(issuer).host;
  signOutRoutes(dependencies, provider, providerName);

  const showFault = (request: FastifyRequest, reply: FastifyReply, fault: SignInFault) => {
    // The address at hand holds what the provider answered, and leads nowhere any more.
    const view = { ...guard.plainViewOf(request), url: SIGN_IN_PATH };
    return sendPage(reply, view, faultPage(view, fault, request.id));
  };
  const refuse = (request: FastifyRequest, reply: FastifyReply, error: unknown) => {
    const fault = faultOf(error);
    if (fault === undefined) throw error;
    request.log.warn({ requestId: request.id, fault, err: describeFault(error) }, 'nobody was signed in');
    return showFault(request, reply, fault);
  };
  /** This machine has several names and cookies are one's: the one to which the provider sends people back. */
  const leadHome = async (request: FastifyRequest, reply: FastifyReply) => {
    const { protocol, host } = new URL(baseUrl());
    // Elsewhere a proxy may have its own name for this host.
    if (protocol === 'https:' || request.host === host) return;
    return reply.redirect(`${baseUrl()}${request.url}`, 303);
  };

  app.get(SIGN_IN_PATH, { onRequest: leadHome }, async (request, reply) => {
    const returnPath = askedReturn(request);
    if (await guard.visitorOf(request)) return reply.redirect(returnPath, 303);
    const view = guard.plainViewOf(request);
    return sendPage(reply, view, signInPage(view, providerName, returnPath));
  });

  app.get(`${SIGN_IN_PATH}/start`, { onRequest: leadHome }, async (request, reply) => {
    const flow = beginFlow(request, reply, askedReturn(request));
    try {
      return reply.redirect(await provider.authorizationUrl(flow, guard.plainViewOf(request).language), 303);
    } catch (error) {
      return refuse(request, reply, error);
    }
  });

  app.get(CALLBACK_PATH, async (request, reply) => {
    const flow = endFlow(request, reply, (request.query as { state?: unknown }).state);
    if (!flow) return showFault(request, reply, 'stale');
    try {
      const identity = await provider.identify(new URL(request.url, baseUrl()).search, flow);
      await startSession(clients, identity, request, reply);
      return reply.redirect(flow.returnPath, 303);
    } catch (error) {
      return refuse(request, reply, error);
    }
  });
}

const askedReturn = ({ query }: FastifyRequest) => returnPathOf((query as { return?: unknown }).return);
