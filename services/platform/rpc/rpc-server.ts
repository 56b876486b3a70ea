import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { Server } from 'node:net';
import type { Interceptor } from '@connectrpc/connect';
import { createCallLimit, limitCalls } from './call-limit.ts';
import { createConnectPort } from './connect-port.ts';
import { type CallerSources, identifyCallers } from './identify-callers.ts';
import { type ConnectionTimeouts, createPortServer, type RequestHandlers } from './port-server.ts';
import type { PortTls } from './secure-server.ts';
import type { ServiceBinding } from './service-binding.ts';
import { UnaryPort } from './unary-port.ts';

const LIMITS = {
  readMaxBytes: 1024 * 1024,
  /** Within one network, compressing small responses costs more than it saves. */
  compressMinBytes: 32 * 1024,
  // A minute. Clients that use gRPC's C core, as in Python, send up to 1 % more than their deadline.
  maxTimeoutMs: 61_000,
};
const TIMEOUTS: PortTimeouts = {
  headersTimeoutMs: 15_000,
  bodyTimeoutMs: 30_000,
  // Longer than load balancers and clients keep idle connections.
  idleTimeoutMs: 900_000,
  // Process managers kill after ten seconds. Clients repeat the few calls that take longer.
  shutdownMs: 6_000,
};

/** How long clients may take before they are refused or disconnected. */
export interface PortTimeouts extends ConnectionTimeouts {
  /** For the message of a call, except in client streams. */
  readonly bodyTimeoutMs: number;
}

export interface RpcServerOptions extends CallerSources {
  readonly bindings: readonly ServiceBinding[];
  readonly interceptors: Interceptor[];
  /** Makes the port require mutual TLS. Default: no TLS. */
  readonly tls?: PortTls | undefined;
  readonly timeouts?: PortTimeouts;
  /** The maximum number of concurrent unary calls; more are refused. Default: 1000. */
  readonly maxConcurrentCalls?: number;
}

/** The internal port, listening or not yet. */
export interface RpcServer {
  readonly server: Server;
  listen(address: { readonly host: string; readonly port: number }): Promise<void>;
  /** Resolves when the calls in progress have been answered, and all connections have ended or been cut off. */
  close(): Promise<void>;
}

/** The internal port: gRPC (HTTP/2), gRPC-Web and Connect (also over HTTP/1.1), with mutual TLS or without TLS. */
export function createRpcServer(options: RpcServerOptions): RpcServer {
  const { bindings, interceptors, tls, timeouts = TIMEOUTS, maxConcurrentCalls = 1_000 } = options;
  const limits = { ...LIMITS, bodyTimeoutMs: timeouts.bodyTimeoutMs };
  const identify = identifyCallers(options);
  const limit = createCallLimit(maxConcurrentCalls);
  const unaryPort = new UnaryPort({ bindings, interceptors, identify, limit, ...limits });
  const shutdown = new AbortController();
  const connect = createConnectPort(bindings, {
    interceptors: [limitCalls(limit), ...interceptors],
    // Before the request body is read.
    requestGate: ({ method, requestHeader, values }) =>
      identify(method, (name) => requestHeader.get(name), values),
    ...limits,
    shutdownSignal: shutdown.signal,
  });
  const server = createPortServer({ handlers: handlersOf(unaryPort, connect), tls, timeouts });
  return {
    server,
    async listen(address) {
      server.listen(address);
      await once(server, 'listening');
    },
    async close() {
      const timer = setTimeout(() => shutdown.abort(), timeouts.shutdownMs);
      // `close` fails if the server never listened, which is fine here.
      await new Promise((resolve) => server.close(resolve));
      clearTimeout(timer);
    },
  };
}

/** Offers each request to the unary port first, and leaves the others to Connect. */
function handlersOf(unaryPort: UnaryPort, connect: RequestListener): RequestHandlers {
  // Never listens; turns streams into requests and responses for Connect.
  const compatibility = createHttp2Server(connect as never);
  return {
    onRequest(request, response) {
      if (!unaryPort.serveRequest(request, response)) connect(request, response);
    },
    onStream(stream, headers, ...rest) {
      if (!unaryPort.serveStream(stream, headers)) compatibility.emit('stream', stream, headers, ...rest);
    },
  };
}
