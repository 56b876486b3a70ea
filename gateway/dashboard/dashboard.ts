import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Transport } from '@connectrpc/connect';
import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import helmet from '@fastify/helmet';
import files from '@fastify/static';
import { fastify } from 'fastify';
import type { Logger } from 'pino';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { newRequestId } from '../plugins/response-headers.ts';
import { closeInTime } from '../plugins/shutdown.ts';
import { countedAddress } from '../rate-limits/client-address.ts';
import { RateLimit, WINDOW_SECONDS } from '../rate-limits/rate-limit.ts';
import type { DashboardApp } from './dashboard-app.ts';
import { createDashboardClients } from './dashboard-clients.ts';
import { DashboardLog } from './dashboard-log.ts';
import { registerFeatures } from './features.ts';
import { SessionGuard } from './session/session-guard.ts';
import { answerFailures } from './shell/failure-page.ts';
import { Failure } from './shell/failures.ts';
import type { DashboardConfig } from './shell/feature.ts';
import { Pages, type Registered } from './shell/pages.ts';

const ASSETS = '/assets/';
const BODY_LIMIT_BYTES = 64 * 1024;
const ASSET_MAX_AGE_MS = 5 * 60_000;
const LONGEST_PATH = 16 * 1024;
/** Longer than any answer takes, and than a stream is silent. */
const STALLED_MS = 30_000;
/** Has no page. */
const NOWHERE = '/nowhere';

export interface DashboardOptions {
  readonly config: DashboardConfig;
  /** To the services, as DASHBOARD_CALLER. */
  readonly transport: Transport;
  readonly logger: Logger;
}

/** The merchants' dashboard, not yet listening. */
export interface Dashboard extends DashboardApp {
  /** Every page and action of a merchant there is. */
  readonly registered: readonly Registered[];
}

/** Makes the dashboard: pages drawn here, from what the services answer, for people who signed in. */
export async function createDashboard({ config, transport, logger }: DashboardOptions): Promise<Dashboard> {
  const app: DashboardApp = fastify({
    loggerInstance: logger,
    logController: new DashboardLog(logger),
    childLoggerFactory: (parent) => parent,
    genReqId: newRequestId,
    requestIdHeader: false,
    trustProxy: config.TRUSTED_PROXIES.length > 0 ? [...config.TRUSTED_PROXIES] : false,
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: config.HTTP_REQUEST_TIMEOUT,
    // A browser that does not read its answers holds its connection no longer than this.
    connectionTimeout: config.HTTP_REQUEST_TIMEOUT + STALLED_MS,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    // The router answers what it cannot read in its own words and without our headers.
    routerOptions: { maxParamLength: LONGEST_PATH },
    rewriteUrl: ({ url = NOWHERE }) => (isReadable(url) ? url : NOWHERE),
  });
  closeInTime(app);
  app.decorateRequest('person', null);
  app.decorateRequest('view', null);
  await app.register(cookie);
  // Forms are the only requests with a body: another site can have a browser send other kinds unasked.
  app.removeAllContentTypeParsers();
  await app.register(formbody);
  await app.register(helmet, { ...headersFor(config), global: true });
  app.addHook('onRequest', async (request, reply) => {
    reply.header('request-id', request.id);
    if (!request.url.startsWith(ASSETS)) reply.header('cache-control', 'no-store');
  });
  limitAddresses(app, config);
  const clients = createDashboardClients(transport);
  const guard = new SessionGuard(clients);
  answerFailures(app, guard);
  await app.register(files, {
    root: fileURLToPath(new URL('assets', import.meta.url)),
    prefix: ASSETS,
    maxAge: ASSET_MAX_AGE_MS,
    index: false,
  });
  const pages = new Pages(app, guard);
  const port = () => (app.server.address() as AddressInfo).port;
  const baseUrl = () => config.PUBLIC_URL_DASHBOARD ?? `http://${config.HOST}:${port()}`;
  registerFeatures({ app, pages, guard, clients, config, baseUrl });
  return Object.assign(app, { registered: pages.registered });
}

/** Pages cost reads, also those of who has no session; they are counted in the memory of this process. */
function limitAddresses(app: DashboardApp, { RATE_LIMIT_ADDRESS: points }: DashboardConfig): void {
  const limit = new RateLimit('address', new RateLimiterMemory({ points, duration: WINDOW_SECONDS }));
  app.addHook('onRequest', async (request, reply) => {
    if (request.url.startsWith(ASSETS)) return;
    const { admitted, retryAfter } = await limit.take(countedAddress(request.ip));
    if (admitted) return;
    reply.header('retry-after', retryAfter);
    throw Failure.of(429, 'tooMany');
  });
}

function isReadable(url: string): boolean {
  try {
    decodeURIComponent(url.split(/[?#]/, 1)[0]!);
    return true;
  } catch {
    return false;
  }
}

/** Only this host's own files and nobody's frames: no inline script or style, and no request to anybody else. */
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
