import { Code, ConnectError, type Interceptor, type Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';

/** A transport to services in another process: the Connect protocol over HTTP/1.1 with keep-alive. */
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
