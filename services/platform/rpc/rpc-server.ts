import { createServer as createHttp1Server, type RequestListener } from 'node:http';
import { createServer as createHttp2Server, type ServerHttp2Session } from 'node:http2';
import { createServer, type Socket } from 'node:net';
import type { Interceptor } from '@connectrpc/connect';
import { fastifyConnectPlugin } from '@connectrpc/connect-fastify';
import { type FastifyInstance, fastify } from 'fastify';
import type { ServiceToken } from '../process/setting-parsers.ts';
import type { ServiceBinding } from './service-binding.ts';
import { type CallerDirectory, identifyCallers } from './service-tokens.ts';
import { UnaryPort } from './unary-port.ts';

const LIMITS = {
  readMaxBytes: 1024 * 1024,
  /** Within one network, compressing small responses costs more than it saves. */
  compressMinBytes: 32 * 1024,
  maxTimeoutMs: 60_000,
};
/** Longer than clients keep idle connections, so that none is closed while a request is in flight. */
const KEEP_ALIVE_MS = 120_000;
/** Longer than the deadline of calls for the public API. */
const SHUTDOWN_MS = 12_000;
/** How long a new connection may stay silent. */
const FIRST_BYTE_TIMEOUT_MS = 60_000;
/** The first bytes of every HTTP/2 connection. */
const HTTP2_PREFACE = Buffer.from('PRI * HTTP/2');

export interface RpcServerOptions {
  readonly bindings: readonly ServiceBinding[];
  readonly interceptors: Interceptor[];
  readonly tokens: readonly ServiceToken[];
  /** The callers beside those of `tokens`. Default: none. */
  readonly storedCallers?: CallerDirectory;
}

/** The internal port: gRPC (HTTP/2 without TLS), gRPC-Web and Connect (also over HTTP/1.1), distinguished by the first bytes. */
export function createRpcServer(options: RpcServerOptions): FastifyInstance {
  const { bindings, interceptors, tokens, storedCallers } = options;
  const identify = identifyCallers(tokens, storedCallers);
  const unaryPort = new UnaryPort({ bindings, interceptors, identify, ...LIMITS });
  const server = fastify({
    serverFactory: (listener) => bothProtocols(listener as RequestListener, unaryPort) as never,
    logger: false,
  });
  void server.register(fastifyConnectPlugin, {
    routes: (router) => {
      for (const binding of bindings) binding.register(router);
    },
    interceptors,
    // Before the request body is read.
    requestGate: ({ method, requestHeader, values }) =>
      identify(method, (name) => requestHeader.get(name), values),
    ...LIMITS,
    shutdownTimeoutMs: SHUTDOWN_MS,
  });
  return server;
}

/** How often connections that have become idle are closed while the server closes. */
const CLOSE_IDLE_MS = 20;

/** A TCP server that passes each connection to an HTTP/2 or HTTP/1.1 server, depending on its first bytes. */
function bothProtocols(listener: RequestListener, unaryPort: UnaryPort) {
  let isClosing = false;
  const http1 = createHttp1Server({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    if (isClosing) response.setHeader('connection', 'close');
    // The server that the caller of createRpcServer knows.
    front.emit('request', request, response);
    if (!unaryPort.serveRequest(request, response)) listener(request, response);
  });
  // An HTTP server tracks its connections, to close idle ones, only after "listening"; here the front server listens.
  http1.emit('listening');
  const http2 = createHttp2Server();
  // Never listens: it makes requests and responses of streams for Connect.
  const compatibility = createHttp2Server(listener as never);
  http2.on('stream', (stream, headers, ...rest) => {
    if (!unaryPort.serveStream(stream, headers)) compatibility.emit('stream', stream, headers, ...rest);
  });
  const sessions = new Set<ServerHttp2Session>();
  http2.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  const silent = new Set<Socket>();
  const front = createServer((socket) => {
    silent.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => silent.delete(socket));
    socket.setTimeout(FIRST_BYTE_TIMEOUT_MS, () => socket.destroy());
    socket.once('readable', () => {
      silent.delete(socket);
      socket.setTimeout(0);
      socket.removeAllListeners('timeout');
      handOver(socket, (isHttp2) => (isHttp2 ? http2 : http1).emit('connection', socket));
    });
  });
  const closeFront = front.close.bind(front);
  front.close = (callback) => {
    // Calls that are under way, or arrive before their client knows, are still answered.
    isClosing = true;
    for (const session of sessions) session.close();
    for (const socket of silent) socket.destroy();
    http1.close();
    const closeIdle = setInterval(() => http1.closeIdleConnections(), CLOSE_IDLE_MS);
    const force = setTimeout(() => {
      for (const session of sessions) session.destroy();
      http1.closeAllConnections();
    }, SHUTDOWN_MS);
    return closeFront((error) => {
      clearInterval(closeIdle);
      clearTimeout(force);
      callback?.(error);
    });
  };
  return front;
}

function handOver(socket: Socket, passOn: (isHttp2: boolean) => void): void {
  const first = socket.read() as Buffer | null;
  if (first === null) {
    socket.destroy();
    return;
  }
  socket.unshift(first);
  const length = Math.min(first.length, HTTP2_PREFACE.length);
  passOn(first.subarray(0, length).equals(HTTP2_PREFACE.subarray(0, length)));
}
