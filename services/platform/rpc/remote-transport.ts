import { Code, ConnectError, type Interceptor, type Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';

/** A transport to services in another process: the Connect protocol over HTTP/1.1 with kept connections. */
export function remoteTransport(baseUrl: string, token: string): Transport {
  return createConnectTransport({
    baseUrl,
    httpVersion: '1.1',
    interceptors: [
      unreachableIsUnavailable,
      (next) => (request) => {
        request.header.set('authorization', `Bearer ${token}`);
        return next(request);
      },
    ],
  });
}

/** Connect calls some failures of a connection, EPIPE and ENETUNREACH among them, internal errors of the service. */
const unreachableIsUnavailable: Interceptor = (next) => async (request) => {
  try {
    return await next(request);
  } catch (error) {
    if (!(error instanceof ConnectError) || !isSystemError(error.cause)) throw error;
    throw new ConnectError(error.rawMessage, Code.Unavailable, undefined, undefined, error.cause);
  }
};

/** Whether the machine's network failed: only its errors name the system call. */
function isSystemError(cause: unknown): boolean {
  return cause instanceof Error && 'syscall' in cause;
}
