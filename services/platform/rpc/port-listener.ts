import { createServer as createHttp1Server, type RequestListener } from 'node:http';
import { constants, createServer as createHttp2Server, type ServerHttp2Session } from 'node:http2';
import { createServer, type Server, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { rememberPeer } from './peer-certificate.ts';
import { createSecureServer, type PortTls } from './secure-server.ts';
import type { UnaryPort } from './unary-port.ts';

/** Longer than clients keep idle connections, so that none is closed while a request is in flight. */
const KEEP_ALIVE_MS = 120_000;
/** How long a new connection may stay silent. */
const FIRST_BYTE_TIMEOUT_MS = 60_000;
/** The first bytes of every HTTP/2 connection. */
const HTTP2_PREFACE = Buffer.from('PRI * HTTP/2');
/** The highest that there is: all streams that clients have opened are served. */
const LAST_STREAM_ID = 2 ** 31 - 1;
/** Longer than a client takes to stop opening streams. */
const ANNOUNCED_MS = 300;
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
}

/**
 * A server that passes each connection to an HTTP/2 or HTTP/1.1 server: depending on its first bytes, or with TLS on the
 * protocol that was negotiated. When the TLS files have been replaced, clients are asked to use new connections.
 */
export function createPortListener({ listener, unaryPort, tls, shutdownMs }: PortListenerOptions): Server {
  const http2 = new Http2Part(listener, unaryPort);
  const http1 = new Http1Part((request, response) => {
    // The server that the caller of createRpcServer knows.
    front.emit('request', request, response);
    if (!unaryPort.serveRequest(request, response)) listener(request, response);
  });
  const accept = (socket: Socket, isHttp2: boolean) => (isHttp2 ? http2 : http1).accept(socket);
  const plain = new PlainConnections(accept);
  const front = tls
    ? createSecureServer(tls, (socket: TLSSocket) => {
        if (isClosing) return void socket.destroy();
        rememberPeer(socket, socket);
        socket.on('error', () => socket.destroy());
        accept(socket, socket.alpnProtocol === 'h2');
      })
    : createServer((socket) => plain.add(socket));
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

  constructor(serve: RequestListener) {
    this.#server = createHttp1Server({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
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
  readonly #server = createHttp2Server();
  readonly #sessions = new Set<ServerHttp2Session>();

  constructor(listener: RequestListener, unaryPort: UnaryPort) {
    // Never listens: it makes requests and responses of streams for Connect.
    const compatibility = createHttp2Server(listener as never);
    this.#server.on('stream', (stream, headers, ...rest) => {
      if (!unaryPort.serveStream(stream, headers)) compatibility.emit('stream', stream, headers, ...rest);
    });
    this.#server.on('session', (session) => {
      this.#sessions.add(session);
      session.once('close', () => this.#sessions.delete(session));
      if (session.encrypted) rememberPeer(session, session.socket as TLSSocket);
    });
  }

  accept(socket: Socket): void {
    this.#server.emit('connection', socket);
  }

  /** Ends each connection after the calls that are under way; what it returns cuts those that are still open. */
  retire(): () => void {
    const retired = [...this.#sessions];
    for (const session of retired) endGracefully(session);
    return () => {
      for (const session of retired) session.destroy();
    };
  }
}

/** Announces the end first: not all clients repeat a call that crosses it. */
function endGracefully(session: ServerHttp2Session): void {
  if (session.closed) return;
  session.goaway(constants.NGHTTP2_NO_ERROR, LAST_STREAM_ID);
  setTimeout(() => session.close(), ANNOUNCED_MS).unref();
}

/** Connections without TLS: the first bytes show the protocol. */
class PlainConnections {
  readonly #silent = new Set<Socket>();
  readonly #accept: (socket: Socket, isHttp2: boolean) => void;

  constructor(accept: (socket: Socket, isHttp2: boolean) => void) {
    this.#accept = accept;
  }

  add(socket: Socket): void {
    this.#silent.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#silent.delete(socket));
    socket.setTimeout(FIRST_BYTE_TIMEOUT_MS, () => socket.destroy());
    socket.once('readable', () => {
      this.#silent.delete(socket);
      socket.setTimeout(0);
      socket.removeAllListeners('timeout');
      this.#handOver(socket);
    });
  }

  close(): void {
    for (const socket of this.#silent) socket.destroy();
  }

  #handOver(socket: Socket): void {
    const first = socket.read() as Buffer | null;
    if (first === null) {
      socket.destroy();
      return;
    }
    socket.unshift(first);
    const length = Math.min(first.length, HTTP2_PREFACE.length);
    this.#accept(socket, first.subarray(0, length).equals(HTTP2_PREFACE.subarray(0, length)));
  }
}
