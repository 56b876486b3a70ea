import { createServer as createHttp1Server, type RequestListener } from 'node:http';
import {
  createServer as createHttp2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from 'node:http2';
import { createServer, type Server, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { rememberPeer } from './peer-certificate.ts';
import { PlainConnections } from './plain-connections.ts';
import { createSecureServer, type PortTls } from './secure-server.ts';

/** Longer than clients and load balancers keep idle connections, so that none is closed while a request is in flight. */
const KEEP_ALIVE_MS = 620_000;
/** Detects clients that have disappeared. */
const TCP_KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelay: 60_000 };
/** The request line and the headers together. */
const MAX_HEADER_BYTES = 16 * 1024;
/** The limits of one HTTP/2 connection. One that exceeds them is closed. */
const HTTP2_LIMITS: ServerOptions = {
  settings: { maxConcurrentStreams: 1_000, maxHeaderListSize: MAX_HEADER_BYTES },
  maxHeaderListPairs: 100,
  /** In MiB. */
  maxSessionMemory: 10,
  // As many calls as may be open can be canceled at once, then 33 per second.
  streamResetBurst: 1_000,
  streamResetRate: 33,
};
/** How long a client that was idle for too long has to learn that its connection ends. */
const END_IDLE_MS = 1_000;
/** How often connections that have become idle are closed while the server closes. */
const CLOSE_IDLE_MS = 20;
/**
 * How long connections made with replaced certificates may stay open. Calls end within a minute; longer streams are
 * cut off.
 */
const RETIRED_MS = 120_000;

/** What answers the requests of a port. */
export interface RequestHandlers {
  readonly onRequest: RequestListener;
  /** A request over HTTP/2. The rest is what Node.js passes with it. */
  readonly onStream: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ...rest: unknown[]) => void;
}

export interface PortServerOptions {
  readonly handlers: RequestHandlers;
  readonly tls: PortTls | undefined;
  readonly timeouts: ConnectionTimeouts;
}

/** How long a client may take. */
export interface ConnectionTimeouts {
  /** To send its first bytes, and the headers of each request over HTTP/1.1. */
  readonly headersTimeoutMs: number;
  /** Between calls over HTTP/2. */
  readonly idleTimeoutMs: number;
  /** To receive the answers to its calls in progress, and to close its connections, while the server closes. */
  readonly shutdownMs: number;
}

/**
 * A server that passes each connection to an HTTP/2 or HTTP/1.1 server, depending on its first bytes or, with TLS, on
 * the negotiated protocol. When the TLS files are replaced, clients are asked to reconnect.
 */
export function createPortServer({ handlers, tls, timeouts }: PortServerOptions): Server {
  const http2 = new Http2Connections(timeouts, handlers.onStream);
  const http1 = new Http1Connections(timeouts, (request, response) => {
    // The server that the caller of createRpcServer knows.
    front.emit('request', request, response);
    handlers.onRequest(request, response);
  });
  const sockets = new Set<Socket>();
  const accept = (socket: Socket, isHttp2: boolean) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    (isHttp2 ? http2 : http1).accept(socket);
  };
  const plain = new PlainConnections(accept, timeouts.headersTimeoutMs);
  const front = tls
    ? createSecureServer(tls, (socket: TLSSocket) => {
        if (isClosing) return void socket.destroy();
        rememberPeer(socket, socket);
        socket.on('error', () => socket.destroy());
        accept(socket, socket.alpnProtocol === 'h2');
      })
    : createServer(TCP_KEEP_ALIVE, (socket) => plain.add(socket));
  const forget = tls?.files.onReplaced(() => {
    const retired = [...sockets];
    http1.retire(retired);
    http2.retire();
    setTimeout(() => cutOff(retired), RETIRED_MS).unref();
  });
  let isClosing = false;
  const closeFront = front.close.bind(front);
  front.close = (callback) => {
    isClosing = true;
    forget?.();
    plain.close();
    // Calls in progress, or that arrive before their client knows, are still answered.
    http1.close();
    http2.retire();
    const force = setTimeout(() => cutOff(sockets), timeouts.shutdownMs);
    return closeFront((error) => {
      http1.closed();
      clearTimeout(force);
      callback?.(error);
    });
  };
  return front;
}

/** Destroys connections in any state: one that only this side has ended stays open until its client ends it, too. */
function cutOff(sockets: Iterable<Socket>): void {
  for (const socket of sockets) socket.destroy();
}

class Http1Connections {
  readonly #server: ReturnType<typeof createHttp1Server>;
  readonly #retired = new WeakSet<Socket>();
  #closing: NodeJS.Timeout | undefined;

  constructor({ headersTimeoutMs }: ConnectionTimeouts, onRequest: RequestListener) {
    const options = {
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: Math.ceil(headersTimeoutMs / 4),
    };
    this.#server = createHttp1Server(options, (request, response) => {
      if (this.#closing || this.#retired.has(request.socket)) response.setHeader('connection', 'close');
      onRequest(request, response);
    });
    // An HTTP server tracks its connections, to close idle ones, only after "listening"; here the front server listens.
    this.#server.emit('listening');
  }

  accept(socket: Socket): void {
    this.#server.emit('connection', socket);
  }

  /** Ends each of these connections with its next response. */
  retire(sockets: Iterable<Socket>): void {
    for (const socket of sockets) this.#retired.add(socket);
  }

  /** Ends each connection with its next response or, when it is idle, at once. */
  close(): void {
    this.#closing = setInterval(() => this.#server.closeIdleConnections(), CLOSE_IDLE_MS);
    this.#server.close();
  }

  closed(): void {
    clearInterval(this.#closing);
  }
}

/**
 * Ends a connection. Open streams are served to their end, even if they are idle. A header block that is incomplete is not
 * one of them, but Node.js would wait for it, however slowly it arrives.
 */
function endOnceIdle(session: ServerHttp2Session): () => void {
  let open = 0;
  session.on('stream', (stream) => {
    open += 1;
    stream.once('close', () => {
      open -= 1;
    });
  });
  return () => {
    session.close();
    const ending = setInterval(() => {
      if (open === 0) session.destroy();
    }, END_IDLE_MS);
    session.once('close', () => clearInterval(ending));
  };
}

class Http2Connections {
  readonly #server = createHttp2Server(HTTP2_LIMITS);
  readonly #sessions = new Set<ServerHttp2Session>();

  constructor({ idleTimeoutMs }: ConnectionTimeouts, onStream: RequestHandlers['onStream']) {
    this.#server.on('stream', onStream);
    this.#server.on('session', (session) => {
      this.#sessions.add(session);
      session.once('close', () => this.#sessions.delete(session));
      session.setTimeout(idleTimeoutMs, endOnceIdle(session));
      if (session.encrypted) rememberPeer(session, session.socket as TLSSocket);
    });
  }

  accept(socket: Socket): void {
    this.#server.emit('connection', socket);
  }

  /** Ends each connection after its calls in progress. */
  retire(): void {
    for (const session of this.#sessions) session.close();
  }
}
