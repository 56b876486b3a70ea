import type { AddressInfo } from 'node:net';
import type { Transport } from '@connectrpc/connect';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { fastify } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from '../services/platform/process/config.ts';
import { listeningUrl } from '../services/platform/process/listening-url.ts';
import type { EnvironmentName } from '../services/platform/tenant.ts';
import { createAccess } from './auth/access.ts';
import { ApiKeyAuthenticator } from './auth/api-key-authenticator.ts';
import { createClients } from './clients.ts';
import { decorateRequests, type GatewayApp, type RouteDependencies } from './gateway-app.ts';
import { parseQuery } from './http/query-string.ts';
import type { ApiHost } from './openapi/api-host.ts';
import { collectOperations, serveOpenApi } from './openapi/openapi.routes.ts';
import { AccessLog } from './plugins/access-log.ts';
import { announceDeprecations } from './plugins/deprecation.ts';
import { serveDocs } from './plugins/docs.ts';
import { serveErrorDocs } from './plugins/error-docs.ts';
import { acceptOnManySockets, KEEP_ALIVE_MS } from './plugins/listening.ts';
import { ProblemWriter } from './plugins/problem-details.ts';
import { BODY_LIMIT_BYTES, readBodies } from './plugins/request-body.ts';
import { limitRequests } from './plugins/request-limit.ts';
import { addResponseHeaders, newRequestId, responseHeaders } from './plugins/response-headers.ts';
import { rejectUnroutable, routeProblem } from './plugins/routing.ts';
import { serializerCompiler } from './plugins/serialization.ts';
import { closeGracefully } from './plugins/shutdown.ts';
import { SocketErrors } from './plugins/socket-errors.ts';
import { traceRequests } from './plugins/trace-requests.ts';
import { ignoreForwardedPorts, trustProxy } from './plugins/trusted-proxies.ts';
import { validatorCompiler } from './plugins/validation.ts';
import { ERROR_DOCS_PATH } from './problems/problem.ts';
import { type RateLimitConfig, RateLimits } from './rate-limits/rate-limits.ts';
import { advancesRoutes } from './routes/advances.routes.ts';
import { catalogRoutes } from './routes/catalog.routes.ts';
import { fundsRoutes } from './routes/funds.routes.ts';
import { listenerRoutes } from './routes/listeners.routes.ts';
import { refundsRoutes } from './routes/refunds.routes.ts';
import { webhooksRoutes } from './routes/webhooks.routes.ts';

const MAX_HEADER_BYTES = 16 * 1024;
const TIMEOUT_CHECKS_PER_TIMEOUT = 10;
/** Longer than any response takes: two RPCs, each with its own deadline. */
const STALLED_RESPONSE_MS = 30_000;

/** The settings that the public API needs. Its only secret is the URL of the rate-limit store, if one is configured. */
export type GatewayConfig = Pick<
  Config,
  | 'HOST'
  | 'PUBLIC_URL_LIVE'
  | 'PUBLIC_URL_SANDBOX'
  | 'PUBLIC_URL_DASHBOARD'
  | 'WEBHOOK_EGRESS_ADDRESSES'
  | 'TRUSTED_PROXIES'
  | 'HTTP_REQUEST_TIMEOUT'
  | 'API_MAX_CONCURRENT_REQUESTS'
> &
  RateLimitConfig;

export interface GatewayOptions {
  /** The environment that this gateway serves: its API keys, data and rate limits. */
  readonly environment: EnvironmentName;
  readonly config: GatewayConfig;
  /** Calls the services as GATEWAY_CALLER. */
  readonly transport: Transport;
  readonly logger: Logger;
}

/** Creates the public JSON API of one environment; the caller starts listening. */
export function createGateway({ environment, config, transport, logger }: GatewayOptions): GatewayApp {
  const { PUBLIC_URL_LIVE, PUBLIC_URL_SANDBOX } = config;
  const [publicUrl, otherUrl] =
    environment === 'live' ? [PUBLIC_URL_LIVE, PUBLIC_URL_SANDBOX] : [PUBLIC_URL_SANDBOX, PUBLIC_URL_LIVE];
  let baseUrl = publicUrl ?? listeningUrl(config.HOST);
  const errorDocsUrl = () => `${baseUrl}${ERROR_DOCS_PATH}`;
  const writer = new ProblemWriter(errorDocsUrl, logger);
  const log = new AccessLog(logger, environment);
  const socketErrors = new SocketErrors(writer, log, {
    timeoutMs: config.HTTP_REQUEST_TIMEOUT,
    routeProblem: (method, target) => routeProblem(app, method, target),
  });
  const app: GatewayApp = openApp({ config, logger, log, writer, socketErrors });
  ignoreForwardedPorts(app, config);
  socketErrors.watch(app.server);
  closeGracefully(app, acceptOnManySockets(app));
  app.addHook('onListen', (done) => {
    baseUrl = publicUrl ?? listeningUrl(config.HOST, (app.server.address() as AddressInfo).port);
    done();
  });
  traceRequests(app);
  decorateRequests(app);
  addResponseHeaders(app);
  app.setErrorHandler((error, request, reply) => writer.send(error, request, reply));
  rejectUnroutable(app);
  readBodies(app);

  const clients = createClients(transport);
  const limits = new RateLimits({ environment, config, logger });
  app.addHook('onReady', () => limits.open());
  app.addHook('onClose', () => limits.close());
  const access = createAccess({
    authenticator: new ApiKeyAuthenticator(clients.apiKeys, environment),
    limits,
  });
  const host = (): ApiHost => ({
    environment,
    baseUrl,
    otherUrl,
    dashboardUrl: config.PUBLIC_URL_DASHBOARD,
    egressAddresses: config.WEBHOOK_EGRESS_ADDRESSES,
    keyLimit: limits.key.perSecond,
    addressLimit: limits.address.perSecond,
    requestTimeoutMs: config.HTTP_REQUEST_TIMEOUT,
  });
  const dependencies: RouteDependencies = { clients, access };
  const operations = collectOperations(app);
  announceDeprecations(app);
  limitRequests(app, config.API_MAX_CONCURRENT_REQUESTS);
  refundsRoutes(app, dependencies);
  catalogRoutes(app, dependencies);
  fundsRoutes(app, dependencies);
  advancesRoutes(app, dependencies);
  webhooksRoutes(app, dependencies);
  if (environment === 'test') listenerRoutes(app, dependencies);
  serveErrorDocs(app, { access, operations, host });
  serveOpenApi(app, operations, { ...dependencies, host });
  serveDocs(app, dependencies);
  return app;
}

interface AppParts extends Pick<GatewayOptions, 'config' | 'logger'> {
  readonly log: AccessLog;
  readonly writer: ProblemWriter;
  readonly socketErrors: SocketErrors;
}

function openApp({ config, logger, log, writer, socketErrors }: AppParts): GatewayApp {
  const timeoutMs = config.HTTP_REQUEST_TIMEOUT;
  const app = fastify({
    loggerInstance: logger,
    logController: log,
    // Log lines carry the request id explicitly, so requests do not need child loggers.
    childLoggerFactory: (parent) => parent,
    genReqId: newRequestId,
    requestIdHeader: false,
    trustProxy: trustProxy(config),
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: timeoutMs,
    // Closes the connection of a client that does not read its responses.
    connectionTimeout: timeoutMs + STALLED_RESPONSE_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_HEADER_BYTES, querystringParser: parseQuery },
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      requireHostHeader: false,
      // Node.js applies the shorter of the two to the headers, so they are equal.
      requestTimeout: timeoutMs,
      headersTimeout: timeoutMs,
      connectionsCheckingInterval: Math.ceil(timeoutMs / TIMEOUT_CHECKS_PER_TIMEOUT),
    },
    frameworkErrors: (error, request, reply) => {
      writer.send(error, request, reply.headers(responseHeaders(request.id)));
      log.requestCompleted(undefined, request, reply);
    },
    clientErrorHandler: (error, socket) => socketErrors.handle(error, socket),
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  return app.withTypeProvider<TypeBoxTypeProvider>();
}
