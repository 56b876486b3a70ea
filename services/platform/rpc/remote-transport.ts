import { setTimeout as delay } from 'node:timers/promises';
import { create, isMessage } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel as IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import {
  Code,
  ConnectError,
  createContextValues,
  type Interceptor,
  type Transport,
  type UnaryRequest,
} from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node';
import { Health } from '../../../proto/gen/health/v1/health_pb.js';
import { propagatedTraces } from '../tracing/trace-calls.ts';
import { withInterceptors } from './compose-call.ts';
import { requestOptions } from './services-agent.ts';
import { type ClientTls, NOT_CONNECTED, ServicesConnector } from './services-connector.ts';
import { UnaryCall } from './unary-call.ts';
import { BAD_GATEWAY, unaryOverHttp } from './unary-exchange.ts';

/** The waits before each retry of a call whose connection failed. */
const REPEAT_AFTER_MS = [20, 100, 400];

/**
 * A transport to services in other processes: the Connect protocol over HTTP/1.1 with keep-alive. The name in
 * `baseUrl` may have the addresses of several processes, or of a load balancer. A call whose connection fails, for
 * example because a process stops, is repeated on another connection if that is safe.
 * @param token undefined for a caller identified by its certificate.
 * @param tls the client certificate. Default: none.
 */
export function remoteTransport(baseUrl: string, token: string | undefined, tls?: ClientTls): Transport {
  const identified = [...propagatedTraces(), ...(token === undefined ? [] : [bearer(token)])];
  const connector = new ServicesConnector(baseUrl, tls);
  const run = withInterceptors([repeatWhenDisconnected, ...identified], unaryOverHttp(baseUrl, connector));
  const { stream } = createConnectTransport({
    baseUrl,
    httpVersion: '1.1',
    nodeOptions: requestOptions(connector),
    interceptors: [unreachableIsUnavailable, ...identified],
  });
  return {
    stream,
    async unary(method, signal, timeoutMs, headers, input, contextValues = createContextValues()) {
      const message = isMessage(input, method.input) ? input : create(method.input, input);
      const call = new UnaryCall(method, message, { protocolName: 'connect', headers, contextValues });
      if (timeoutMs !== undefined) call.header.set('connect-timeout-ms', String(timeoutMs));
      return (await call.run(() => run(call), timeoutMs, signal)) as never;
    },
  };
}

/** A gRPC connection to a service of another team. */
export interface GrpcConnection {
  readonly transport: Transport;
  close(): void;
}

/** How often an open call checks that its connection is alive. */
const PING_INTERVAL_MS = 10_000;

/** Creates a connection, which the first call opens; with TLS for https URLs. */
export function connectGrpc(baseUrl: string, token: string): GrpcConnection {
  const sessionManager = new Http2SessionManager(baseUrl, { pingIntervalMs: PING_INTERVAL_MS });
  const interceptors = [unreachableIsUnavailable, bearer(token)];
  return {
    transport: createGrpcTransport({ baseUrl, sessionManager, interceptors }),
    close: () => sessionManager.abort(),
  };
}

/** Adds a service token to every call. */
export const bearer =
  (token: string): Interceptor =>
  (next) =>
  (request) => {
    request.header.set('authorization', `Bearer ${token}`);
    return next(request);
  };

/** Connect reports some connection failures, such as EPIPE and those of TLS, as internal errors; this corrects them. */
const unreachableIsUnavailable: Interceptor = (next) => async (request) => {
  try {
    return await next(request);
  } catch (error) {
    if (!(error instanceof ConnectError) || !isConnectionError(error.cause)) throw error;
    throw new ConnectError(error.rawMessage, Code.Unavailable, undefined, undefined, error.cause);
  }
};

const repeatWhenDisconnected: Interceptor = (next) => async (request) => {
  for (const waitMs of REPEAT_AFTER_MS) {
    try {
      return await next(request);
    } catch (error) {
      if (request.stream || !isDisconnected(error) || !isRepeatable(request, error)) throw error;
    }
    await delay(waitMs, undefined, { signal: request.signal }).catch(() => undefined);
  }
  return next(request);
};

/** No connection was made: the call was not sent. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT', NOT_CONNECTED]);

/** The connection failed, or ended without an answer, here or behind a load balancer. */
const DISCONNECTED = new Set([
  ...NEVER_SENT,
  'ECONNRESET',
  'EHOSTUNREACH',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_SOCKET',
  BAD_GATEWAY,
]);

const isDisconnected = (error: unknown) =>
  error instanceof ConnectError && DISCONNECTED.has(systemCodeOf(error.cause));

/** Whether the call has the same effect when it is made twice, or has not been made. */
function isRepeatable({ method, message }: UnaryRequest, error: unknown): boolean {
  if (method.idempotency === IdempotencyLevel.NO_SIDE_EFFECTS) return true;
  // The standard's proto file does not declare it.
  if (method.parent.typeName === Health.typeName) return true;
  if ('idempotencyKey' in message && message.idempotencyKey !== '') return true;
  return error instanceof ConnectError && NEVER_SENT.has(systemCodeOf(error.cause));
}

const systemCodeOf = (cause: unknown): string =>
  cause instanceof Error && 'code' in cause ? String(cause.code) : '';

/** Codes of Node.js and OpenSSL for certificates that are refused, and other failures of TLS. */
const TLS_FAILURE = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/;

/** Whether TLS or an operating system call failed: only errors of the latter have a `syscall`. */
function isConnectionError(cause: unknown): boolean {
  return cause instanceof Error && ('syscall' in cause || TLS_FAILURE.test(systemCodeOf(cause)));
}
