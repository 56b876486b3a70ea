import { Code, ConnectError, type Interceptor, type Transport } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node';

/** A transport to services in another process: the Connect protocol over HTTP/1.1 with keep-alive. */
export function remoteTransport(baseUrl: string, token: string): Transport {
  return createConnectTransport({
    baseUrl,
    httpVersion: '1.1',
    interceptors: [unreachableIsUnavailable, bearer(token)],
  });
}

/** A connection to a service that other teams run. */
export interface GrpcConnection {
  readonly transport: Transport;
  close(): void;
}

/** How often an open call checks that its connection is alive. */
const PING_INTERVAL_MS = 10_000;

/** A connection over gRPC, opened by the first call; with TLS for https URLs. */
export function connectGrpc(baseUrl: string, token: string): GrpcConnection {
  const sessionManager = new Http2SessionManager(baseUrl, { pingIntervalMs: PING_INTERVAL_MS });
  const interceptors = [unreachableIsUnavailable, bearer(token)];
  return {
    transport: createGrpcTransport({ baseUrl, sessionManager, interceptors }),
    close: () => sessionManager.abort(),
  };
}

const bearer =
  (token: string): Interceptor =>
  (next) =>
  (request) => {
    request.header.set('authorization', `Bearer ${token}`);
    return next(request);
  };

/** Connect reports some connection failures, such as EPIPE and ENETUNREACH, as internal errors; this corrects them. */
const unreachableIsUnavailable: Interceptor = (next) => async (request) => {
  try {
    return await next(request);
  } catch (error) {
    if (!(error instanceof ConnectError) || !isSystemError(error.cause)) throw error;
    throw new ConnectError(error.rawMessage, Code.Unavailable, undefined, undefined, error.cause);
  }
};

/** Whether an operating system call failed: only such errors have a `syscall`.  */
function isSystemError(cause: unknown): boolean {
  return cause instanceof Error && 'syscall' in cause;
}
