import type { AddressInfo } from 'node:net';
import type { Transport } from '@connectrpc/connect';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { fastify } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from '../services/platform/process/config.ts';
import type { EnvironmentName } from '../services/platform/tenant.ts';
import { createAccess } from './auth/access.ts';
import { ApiKeyAuthenticator } from './auth/api-key-authenticator.ts';
import { createClients } from './clients.ts';
import { decorateRequests, type GatewayApp, type RouteDependencies } from './gateway-app.ts';
import { parseQuery } from './http/query-string.ts';
import type { Listener } from './openapi/listener.ts';
import { collectOperations, serveOpenApi } from './openapi/openapi.routes.ts';
import { AccessLog } from './plugins/access-log.ts';
import { announceDeprecations } from './plugins/deprecation.ts';
import { serveDocs } from './plugins/docs.ts';
import { serveErrorDocs } from './plugins/error-docs.ts';
import { answerFailures, ProblemWriter } from './plugins/problem-details.ts';
import { BODY_LIMIT_BYTES, readBodies } from './plugins/request-body.ts';
import { addAnswerHeaders, newRequestId, setAnswerHeaders } from './plugins/response-headers.ts';
import { noRoute, refuseUnroutable } from './plugins/routing.ts';
import { serializerCompiler } from './plugins/serialization.ts';
import { closeInTime } from './plugins/shutdown.ts';
import { SocketErrors } from './plugins/socket-errors.ts';
import { validatorCompiler } from './plugins/validation.ts';
import { ERROR_DOCS_PATH } from './problems/problem.ts';
import { type RateLimitConfig, RateLimits } from './rate-limits/rate-limits.ts';
import { advancesRoutes } from './routes/advances.routes.ts';
import { catalogRoutes } from './routes/catalog.routes.ts';
import { fundsRoutes } from './routes/funds.routes.ts';
import { refundsRoutes } from './routes/refunds.routes.ts';
import { webhooksRoutes } from './routes/webhooks.routes.ts';

const MAX_HEADER_BYTES = 16 * 1024;
const TIMEOUT_CHECKS_PER_TIMEOUT = 10;
/** Longer than any answer takes: two calls to services, each with its deadline. */
const STALLED_MS = 30_000;

/** The settings that the public API needs. Its only secret is where requests are counted, unless that is in memory. */
export type GatewayConfig = Pick<
  Config,
  'HOST' | 'PUBLIC_URL_LIVE' | 'PUBLIC_URL_SANDBOX' | 'TRUSTED_PROXIES' | 'HTTP_REQUEST_TIMEOUT'
> &
  RateLimitConfig;

export interface GatewayOptions {
  /** The environment that the listener is for: its keys, its data, its limits. */
  readonly environment: EnvironmentName;
  readonly config: GatewayConfig;
  /** To the services, as GATEWAY_CALLER. */
  readonly transport: Transport;
  readonly logger: Logger;
}

/** The public JSON API of one environment, not yet listening. */
export function createGateway({ environment, config, transport, logger }: GatewayOptions): GatewayApp {
  const { PUBLIC_URL_LIVE, PUBLIC_URL_SANDBOX } = config;
  const [publicUrl, otherUrl] =
    environment === 'live' ? [PUBLIC_URL_LIVE, PUBLIC_URL_SANDBOX] : [PUBLIC_URL_SANDBOX, PUBLIC_URL_LIVE];
  let baseUrl = publicUrl ?? `http://${config.HOST}`;
  const errorDocsUrl = () => `${baseUrl}${ERROR_DOCS_PATH}`;
  const writer = new ProblemWriter(errorDocsUrl, logger);
  const log = new AccessLog(logger, environment);
  const socketErrors = new SocketErrors(writer, log, {
    timeoutMs: config.HTTP_REQUEST_TIMEOUT,
    noRoute: (method, target) => noRoute(app, method, target),
  });
  const app: GatewayApp = openApp(config, logger, log, writer, socketErrors);
  socketErrors.watch(app.server);
  closeInTime(app);
  app.addHook('onListen', (done) => {
    baseUrl = publicUrl ?? `http://${config.HOST}:${(app.server.address() as AddressInfo).port}`;
    done();
  });
  decorateRequests(app);
  addAnswerHeaders(app);
  answerFailures(app, writer);
  refuseUnroutable(app);
  readBodies(app);

  const clients = createClients(transport);
  const limits = new RateLimits({ environment, config, logger });
  app.addHook('onReady', () => limits.open());
  app.addHook('onClose', () => limits.close());
  const access = createAccess({
    authenticator: new ApiKeyAuthenticator(clients.apiKeys, environment),
    limits,
  });
  const listener = (): Listener => ({
    ...{ environment, baseUrl, otherUrl },
    keyLimit: limits.key.perSecond,
    addressLimit: limits.address.perSecond,
    requestTimeoutMs: config.HTTP_REQUEST_TIMEOUT,
  });
  const dependencies: RouteDependencies = { clients, access };
  const operations = collectOperations(app);
  announceDeprecations(app);
  refundsRoutes(app, dependencies);
  catalogRoutes(app, dependencies);
  fundsRoutes(app, dependencies);
  advancesRoutes(app, dependencies);
  webhooksRoutes(app, dependencies);
  serveErrorDocs(app, { access, operations, listener });
  serveOpenApi(app, operations, { ...dependencies, listener });
  serveDocs(app, dependencies);
  return app;
}

function openApp(
  config: GatewayConfig,
  logger: Logger,
  log: AccessLog,
  writer: ProblemWriter,
  socketErrors: SocketErrors,
): GatewayApp {
  const timeoutMs = config.HTTP_REQUEST_TIMEOUT;
  const app = fastify({
    loggerInstance: logger,
    logController: log,
    // Every line names its request itself, so requests need no loggers of their own.
    childLoggerFactory: (parent) => parent,
    genReqId: newRequestId,
    requestIdHeader: false,
    trustProxy: config.TRUSTED_PROXIES.length > 0 ? [...config.TRUSTED_PROXIES] : false,
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: timeoutMs,
    // A client that does not read its answers holds its connection no longer than this.
    connectionTimeout: timeoutMs + STALLED_MS,
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_HEADER_BYTES, querystringParser: parseQuery },
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      requireHostHeader: false,
      // Node.js takes the shorter of the two for the headers, so both are this one.
      requestTimeout: timeoutMs,
      headersTimeout: timeoutMs,
      connectionsCheckingInterval: Math.ceil(timeoutMs / TIMEOUT_CHECKS_PER_TIMEOUT),
    },
    frameworkErrors: (error, request, reply) => {
      setAnswerHeaders(reply, request.id);
      writer.answer(error, request, reply);
      log.requestCompleted(undefined, request, reply);
    },
    clientErrorHandler: (error, socket) => socketErrors.answer(error, socket),
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  return app.withTypeProvider<TypeBoxTypeProvider>();
}
