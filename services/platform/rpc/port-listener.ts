import { createServer as createHttp1Server, type RequestListener } from 'node:http';
import { createServer as createHttp2Server, type ServerHttp2Session, type ServerOptions } from 'node:http2';
import { createServer, type Server, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { rememberPeer } from './peer-certificate.ts';
import { PlainConnections } from './plain-connections.ts';
import { createSecureServer, type PortTls } from './secure-server.ts';
import type { UnaryPort } from './unary-port.ts';

/** Longer than clients keep idle connections, so that none is closed while a request is in flight. */
const KEEP_ALIVE_MS = 120_000;
/** Notices clients that are gone without a word. */
const TCP_KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelay: 60_000 };
/** The request line and the headers together. */
const MAX_HEADER_BYTES = 16 * 1024;
/** What one HTTP/2 connection may hold, and repeat. One that asks for more is ended. */
const HTTP2_LIMITS: ServerOptions = {
  settings: { maxConcurrentStreams: 1_000, maxHeaderListSize: MAX_HEADER_BYTES },
  maxHeaderListPairs: 100,
  /** In MiB. */
  maxSessionMemory: 10,
  // As many calls as may be open can be canceled at once, then 33 in each second.
  streamResetBurst: 1_000,
  streamResetRate: 33,
};
/** How often connections that have become idle are closed while the server closes. */
const CLOSE_IDLE_MS = 20;
/** How long connections made with replaced certificates may go on. Calls end within a minute; longer streams are cut. */
const RETIRED_MS = 120_000;

export interface PortListenerOptions {
  /** Serves what the unary port does not. */
  readonly listener: RequestListener;
  readonly unaryPort: UnaryPort;
  readonly tls: PortTls | undefined;
  /** How long calls that are under way may go on while the server closes. */
  readonly shutdownMs: number;
  readonly timeouts: ConnectionTimeouts;
}

/** How long a client may take. */
export interface ConnectionTimeouts {
  /** To show which protocol it speaks, and for the headers of each request over HTTP/1.1. */
  readonly headersTimeoutMs: number;
  /** Before it makes a call over HTTP/2. */
  readonly idleTimeoutMs: number;
}

/**
 * A server that passes each connection to an HTTP/2 or HTTP/1.1 server: depending on its first bytes, or with TLS on the
 * protocol that was negotiated. When the TLS files have been replaced, clients are asked to use new connections.
 */
export function createPortListener(options: PortListenerOptions): Server {
  const { listener, unaryPort, tls, shutdownMs, timeouts } = options;
  const http2 = new Http2Part(listener, unaryPort, timeouts);
  const http1 = new Http1Part(timeouts, (request, response) => {
    // The server that the caller of createRpcServer knows.
    front.emit('request', request, response);
    if (!unaryPort.serveRequest(request, response)) listener(request, response);
  });
  const accept = (socket: Socket, isHttp2: boolean) => (isHttp2 ? http2 : http1).accept(socket);
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
    const retired = [http1.retire(), http2.retire()];
    setTimeout(() => {
      for (const cut of retired) cut();
    }, RETIRED_MS).unref();
  });
  let isClosing = false;
  const closeFront = front.close.bind(front);
  front.close = (callback) => {
    isClosing = true;
    forget?.();
    plain.close();
    // Calls that are under way, or arrive before their client knows, are still answered.
    const cuts = [http1.close(), http2.retire()];
    const force = setTimeout(() => {
      for (const cut of cuts) cut();
    }, shutdownMs);
    return closeFront((error) => {
      http1.closed();
      clearTimeout(force);
      callback?.(error);
    });
  };
  return front;
}

/** The HTTP/1.1 connections. */
class Http1Part {
  readonly #server: ReturnType<typeof createHttp1Server>;
  readonly #sockets = new Set<Socket>();
  readonly #retired = new WeakSet<Socket>();
  #closing: NodeJS.Timeout | undefined;

  constructor({ headersTimeoutMs }: ConnectionTimeouts, serve: RequestListener) {
    const options = {
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: Math.ceil(headersTimeoutMs / 4),
    };
    this.#server = createHttp1Server(options, (request, response) => {
      if (this.#closing || this.#retired.has(request.socket)) response.setHeader('connection', 'close');
      serve(request, response);
    });
    // An HTTP server tracks its connections, to close idle ones, only after "listening"; here the front server listens.
    this.#server.emit('listening');
  }

  accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    this.#server.emit('connection', socket);
  }

  /** Ends each connection with its next response; what it returns cuts those that are still open. */
  retire(): () => void {
    const retired = [...this.#sockets];
    for (const socket of retired) this.#retired.add(socket);
    return () => {
      for (const socket of retired) socket.destroy();
    };
  }

  /** Also ends the connections that are idle. */
  close(): () => void {
    this.#closing = setInterval(() => this.#server.closeIdleConnections(), CLOSE_IDLE_MS);
    this.#server.close();
    return () => this.#server.closeAllConnections();
  }

  closed(): void {
    clearInterval(this.#closing);
  }
}

/** The HTTP/2 connections. */
class Http2Part {
  readonly #server = createHttp2Server(HTTP2_LIMITS);
  readonly #sessions = new Set<ServerHttp2Session>();

  constructor(listener: RequestListener, unaryPort: UnaryPort, { idleTimeoutMs }: ConnectionTimeouts) {
    // Never listens: it makes requests and responses of streams for Connect.
    const compatibility = createHttp2Server(listener as never);
    this.#server.on('stream', (stream, headers, ...rest) => {
      if (!unaryPort.serveStream(stream, headers)) compatibility.emit('stream', stream, headers, ...rest);
    });
    this.#server.on('session', (session) => {
      this.#sessions.add(session);
      session.once('close', () => this.#sessions.delete(session));
      // Streams that are open, however silent, are served to their end.
      session.setTimeout(idleTimeoutMs, () => session.close());
      if (session.encrypted) rememberPeer(session, session.socket as TLSSocket);
    });
  }

  accept(socket: Socket): void {
    this.#server.emit('connection', socket);
  }

  /** Ends each connection after the calls that are under way; what it returns cuts those that are still open. */
  retire(): () => void {
    const retired = [...this.#sessions];
    for (const session of retired) session.close();
    return () => {
      for (const session of retired) session.destroy();
    };
  }
}
