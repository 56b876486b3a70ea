import type { FastifyReply, FastifyRequest } from 'fastify';
import { rateLimitAddress } from '../../rate-limits/client-address.ts';
import { SIGN_IN_PATH } from '../session/session-guard.ts';
import type { RouteDependencies } from '../shell/dependencies.ts';
import { sendPage } from '../shell/layout.ts';
import { OpenIdClient } from './open-id-client.ts';
import { returnPathOf } from './return-path.ts';
import { faultPage, signInPage } from './sign-in.page.ts';
import { countFailedSignIn, countSignIn } from './sign-in-count.ts';
import { describeFault, faultOf, faultStatus, type SignInFault } from './sign-in-faults.ts';
import { beginFlow, endFlow } from './sign-in-flows.ts';
import { signOutRoutes } from './sign-out.routes.ts';
import { startSession } from './start-session.ts';

/** The path to which the provider redirects. */
export const CALLBACK_PATH = `${SIGN_IN_PATH}/callback`;

/** Registers GET /sign-in, /sign-in/start, /sign-in/callback and /signed-out, POST /sign-out. */
export function signInRoutes(dependencies: RouteDependencies): void {
  const { app, guard, accounts, config, baseUrl, signInLimit } = dependencies;
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = config;
  if (issuer === undefined) throw new Error('OIDC_ISSUER is required to serve the dashboard');
  const redirectUri = () => `${baseUrl()}${CALLBACK_PATH}`;
  const provider = new OpenIdClient({ issuer, clientId, clientSecret, redirectUri });
  const providerName = new URL(issuer).host;
  signOutRoutes(dependencies, provider, providerName);

  const showFault = (
    request: FastifyRequest,
    reply: FastifyReply,
    fault: SignInFault,
    status = faultStatus(fault),
  ) => {
    // The current URL contains the provider's response, which cannot be used again.
    const view = { ...guard.plainViewOf(request), url: SIGN_IN_PATH };
    return sendPage(reply, view, { ...faultPage(view, fault, request.id), status });
  };
  const refuse = (request: FastifyRequest, reply: FastifyReply, error: unknown) => {
    const fault = faultOf(error);
    if (fault === undefined) throw error;
    countFailedSignIn(fault, error);
    request.log.warn({ requestId: request.id, fault, err: describeFault(error) }, 'sign-in failed');
    return showFault(request, reply, fault, faultStatus(fault, error));
  };
  /** Anybody can request these steps, each of which calls the provider or the services. */
  const limitSignIns = async (request: FastifyRequest, reply: FastifyReply) => {
    const { allowed, retryAfter } = await signInLimit.consume(rateLimitAddress(request.ip));
    if (allowed) return;
    reply.header('retry-after', retryAfter);
    return showFault(request, reply, 'limited');
  };

  app.get(SIGN_IN_PATH, { onRequest: redirectToBaseUrl(baseUrl) }, async (request, reply) => {
    const returnPath = requestedReturnPath(request);
    if (await guard.findPerson(request)) return reply.redirect(returnPath, 303);
    const view = guard.plainViewOf(request);
    const { unsent, ended } = request.query as { unsent?: unknown; ended?: unknown };
    const interrupted = unsent !== undefined ? 'form' : ended !== undefined ? 'page' : undefined;
    return sendPage(reply, view, signInPage(view, { providerName, returnPath, interrupted }));
  });

  const start = { onRequest: [redirectToBaseUrl(baseUrl), limitSignIns] };
  app.get(`${SIGN_IN_PATH}/start`, start, async (request, reply) => {
    const flow = beginFlow(request, reply, requestedReturnPath(request));
    try {
      const { language } = guard.plainViewOf(request);
      return reply.redirect(await provider.authorizationUrl(flow, language), 303);
    } catch (error) {
      return refuse(request, reply, error);
    }
  });

  app.get(CALLBACK_PATH, { onRequest: limitSignIns }, async (request, reply) => {
    const flow = endFlow(request, reply, (request.query as { state?: unknown }).state);
    if (!flow) return showFault(request, reply, 'stale');
    try {
      const identity = await provider.identify(new URL(request.url, baseUrl()).search, flow);
      await startSession(accounts, identity, request, reply);
      countSignIn();
      return reply.redirect(flow.returnPath, 303);
    } catch (error) {
      return refuse(request, reply, error);
    }
  });
}

/**
 * Redirects a browser that uses another name of this machine to the one that the provider redirects to, because cookies
 * belong to a host.
 */
const redirectToBaseUrl = (baseUrl: () => string) => async (request: FastifyRequest, reply: FastifyReply) => {
  const { protocol, host } = new URL(baseUrl());
  // Behind a proxy, the Host header may differ.
  if (protocol === 'https:' || request.host === host) return;
  return reply.redirect(`${baseUrl()}${request.url}`, 303);
};

const requestedReturnPath = ({ query }: FastifyRequest) =>
  returnPathOf((query as { return?: unknown }).return);
