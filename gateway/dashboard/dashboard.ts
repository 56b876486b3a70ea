import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createClient, type Transport } from '@connectrpc/connect';
import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import helmet from '@fastify/helmet';
import files from '@fastify/static';
import { fastify } from 'fastify';
import type { Logger } from 'pino';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { AccountService } from '../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { listeningUrl } from '../../services/platform/process/listening-url.ts';
import type { GatewayApp } from '../gateway-app.ts';
import { KEEP_ALIVE_MS } from '../plugins/listening.ts';
import { newRequestId } from '../plugins/response-headers.ts';
import { isDecodable } from '../plugins/routing.ts';
import { closeGracefully } from '../plugins/shutdown.ts';
import { traceRequests } from '../plugins/trace-requests.ts';
import { ignoreForwardedPorts, trustProxy } from '../plugins/trusted-proxies.ts';
import { pathOf } from '../problems/problem.ts';
import { rateLimitAddress } from '../rate-limits/client-address.ts';
import { RateLimit, WINDOW_SECONDS } from '../rate-limits/rate-limit.ts';
import { openSignInLimit } from '../rate-limits/rate-limits.ts';
import { DashboardLog } from './dashboard-log.ts';
import { registerFeatures } from './features.ts';
import { SessionGuard } from './session/session-guard.ts';
import type { DashboardConfig } from './shell/dependencies.ts';
import { handleFailures } from './shell/failure-page.ts';
import { Failure } from './shell/failures.ts';
import { Pages, type Registered } from './shell/pages.ts';

const ASSETS = '/assets/';
const BODY_LIMIT_BYTES = 64 * 1024;
const ASSET_MAX_AGE_MS = 5 * 60_000;
const MAX_PATH_LENGTH = 16 * 1024;
/** Longer than any response takes, and than the heartbeat interval of a stream. */
const STALLED_MS = 30_000;
/** A path without a page. */
const NOT_FOUND_PATH = '/not-found';

export interface DashboardOptions {
  readonly config: DashboardConfig;
  /** Calls the services as DASHBOARD_CALLER. */
  readonly transport: Transport;
  readonly logger: Logger;
}

export interface Dashboard extends GatewayApp {
  /** Every registered page and action of merchants. */
  readonly registered: readonly Registered[];
}

/** Creates the dashboard, not yet listening: server-rendered pages for signed-in people. */
export async function createDashboard({ config, transport, logger }: DashboardOptions): Promise<Dashboard> {
  const app: GatewayApp = fastify({
    loggerInstance: logger,
    logController: new DashboardLog(logger),
    childLoggerFactory: (parent) => parent,
    genReqId: newRequestId,
    requestIdHeader: false,
    trustProxy: trustProxy(config),
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: config.HTTP_REQUEST_TIMEOUT,
    // Closes the connection of a browser that stops reading its responses.
    connectionTimeout: config.HTTP_REQUEST_TIMEOUT + STALLED_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    // The router's own response to a malformed URL lacks our headers: send those to the not-found page.
    routerOptions: { maxParamLength: MAX_PATH_LENGTH },
    rewriteUrl: ({ url = NOT_FOUND_PATH }) => (isDecodable(pathOf(url)) ? url : NOT_FOUND_PATH),
  });
  ignoreForwardedPorts(app, config);
  closeGracefully(app);
  traceRequests(app);
  app.decorateRequest('person', null);
  app.decorateRequest('view', null);
  await app.register(cookie);
  // Accept form bodies only: other sites can make browsers send other types without a preflight.
  app.removeAllContentTypeParsers();
  await app.register(formbody);
  await app.register(helmet, { ...headersFor(config), global: true });
  app.addHook('onRequest', async (request, reply) => {
    reply.header('request-id', request.id);
    if (!request.url.startsWith(ASSETS)) reply.header('cache-control', 'no-store');
  });
  limitAddresses(app, config);
  const accounts = createClient(AccountService, transport);
  const guard = new SessionGuard(accounts, config);
  handleFailures(app, guard);
  await app.register(files, {
    root: fileURLToPath(new URL('assets', import.meta.url)),
    prefix: ASSETS,
    maxAge: ASSET_MAX_AGE_MS,
    index: false,
  });
  const pages = new Pages(app, guard, transport, config);
  const port = () => (app.server.address() as AddressInfo).port;
  const baseUrl = () => config.PUBLIC_URL_DASHBOARD ?? listeningUrl(config.HOST, port());
  const { signInLimit, close } = openSignInLimit(config, logger);
  app.addHook('onClose', close);
  registerFeatures(pages, { app, guard, accounts, config, signInLimit, baseUrl });
  pages.redirectActionUrls();
  return Object.assign(app, { registered: pages.registered });
}

/** Whether a page of another site loads this by itself, as an image or a frame. */
const isEmbedded = ({
  'sec-fetch-site': site = 'none',
  'sec-fetch-dest': dest = 'document',
}: IncomingHttpHeaders) => dest !== 'document' && site !== 'same-origin' && site !== 'none';

/** Limits requests per client address, with or without a session; each process counts in memory. */
function limitAddresses(app: GatewayApp, { RATE_LIMIT_ADDRESS: points }: DashboardConfig): void {
  const limit = new RateLimit('address', new RateLimiterMemory({ points, duration: WINDOW_SECONDS }));
  app.addHook('onRequest', async (request, reply) => {
    if (request.url.startsWith(ASSETS)) return;
    // Not counted: a site that somebody has open could keep everyone at their address from signing in.
    if (isEmbedded(request.headers)) return reply.code(403).send();
    const { allowed, retryAfter } = await limit.consume(rateLimitAddress(request.ip));
    if (allowed) return;
    reply.header('retry-after', retryAfter);
    throw Failure.of(429, 'tooMany');
  });
}

/** Allows only this host's own files: no inline script or style, no frames, and no request to another host. */
function headersFor({ PUBLIC_URL_DASHBOARD }: DashboardConfig) {
  return {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'"],
        connectSrc: ["'self'"],
        formAction: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    referrerPolicy: { policy: 'same-origin' as const },
    strictTransportSecurity: PUBLIC_URL_DASHBOARD?.startsWith('https:') ?? false,
  };
}
