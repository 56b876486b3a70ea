import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { PROBLEM_MEDIA_TYPE, Problem, staticProblem } from '../problems/problem.ts';
import { PROBLEM_TYPES } from '../problems/problem-types.ts';
import type { AccessLog } from './access-log.ts';
import type { ProblemWriter } from './problem-details.ts';
import { newRequestId, responseHeaders } from './response-headers.ts';

/** The error of a Node.js 'clientError' event. */
interface ConnectionError extends Error {
  readonly code?: string;
  /** The last chunk read, and the position where the parser stopped. */
  readonly rawPacket?: unknown;
  readonly bytesParsed?: number;
}

interface SocketFailure {
  readonly problem: Problem;
  /** Method and target of the request, if known. */
  readonly method?: string | undefined;
  readonly target?: string | undefined;
}

interface SocketErrorOptions {
  /** The time within which a request must arrive. */
  readonly timeoutMs: number;
  /** The problem of a method and target without a route. */
  readonly routeProblem: (method: string, target: string) => Problem;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

const LONG_REQUEST_LINE = /^[A-Z]+ [^\n]{8000}/;
const REQUEST_LINE = /^([!#$%&'*+.^_`|~\w-]+) ([!-~]+) HTTP\/1\.[01]\r?\n/;
const METHOD = /^(?:\r?\n)*([A-Z]+) /;
const END_OF_HEAD = '\r\n\r\n';
const LINGER_MS = 1_000;

/**
 * Handles errors that occur before Fastify sees a request (malformed, too large or too slow) by writing the response to
 * the socket, with the same body and headers as any other error. Each request gets one response, and earlier requests
 * on the connection get theirs first.
 */
export class SocketErrors {
  readonly #writer: ProblemWriter;
  readonly #log: AccessLog;
  readonly #options: SocketErrorOptions;
  readonly #lastRequests = new WeakMap<Duplex, Exchange>();
  readonly #failed = new WeakSet<Duplex>();

  constructor(writer: ProblemWriter, log: AccessLog, options: SocketErrorOptions) {
    this.#writer = writer;
    this.#log = log;
    this.#options = options;
  }

  /** Tracks requests, and replaces the default responses of Node.js to Expect and CONNECT. */
  watch(server: Server): void {
    server.on('request', (request, response) =>
      this.#lastRequests.set(request.socket, { request, response }),
    );
    server.on('checkContinue', (request, response) => {
      const sendContinue = () => response.headersSent || response.writeContinue();
      // Once the body is read: an error that the head alone determines is sent instead, and the client keeps its body.
      request.once('resume', () => {
        // With pipelined requests Node.js would write this into the response of an earlier one.
        if (response.socket) sendContinue();
        else response.once('socket', sendContinue);
      });
      server.emit('request', request, response);
    });
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    server.on('connect', ({ url: target = '' }: IncomingMessage, socket: Duplex) => {
      // Node.js has detached this socket: its errors and unread bytes must be handled here.
      socket.on('error', () => socket.destroy());
      socket.resume();
      this.#fail(socket, { problem: this.#options.routeProblem('CONNECT', target), target }, 'CONNECT');
    });
  }

  /** Sends the error on a connection from which no more requests can be read, and closes it. */
  handle(error: ConnectionError, socket: Duplex): void {
    const silent = (socket as Socket).bytesRead === 0;
    if (error.code === 'ECONNRESET' || socket.destroyed || silent) socket.destroy();
    else this.#fail(socket, { method: methodOf(error), ...failureOf(error, this.#options) }, error.code);
  }

  #fail(socket: Duplex, failure: SocketFailure, reason: string | undefined): void {
    // Only the first error is reported; later input is discarded.
    if (this.#failed.has(socket)) return;
    this.#failed.add(socket);
    const end = () => this.#end(socket, failure, reason);
    const last = this.#lastRequests.get(socket);
    if (last === undefined) {
      end();
      return;
    }
    const { request, response } = last;
    const { method, url: target } = request;
    const endLast = () => this.#end(socket, { ...failure, method, target }, reason);
    if (request.complete) afterResponse(response, end);
    else if (response.headersSent) afterResponse(response, () => close(socket));
    // The failed request gets the socket once earlier requests have their responses.
    else if (response.socket) endLast();
    else response.once('socket', endLast);
  }

  #end(socket: Duplex, { problem, method, target = '/' }: SocketFailure, reason: string | undefined): void {
    if (!socket.writable) return;
    const requestId = newRequestId();
    const { status } = PROBLEM_TYPES[problem.code];
    const body = this.#writer.body(problem, requestId, target);
    const headers = {
      ...responseHeaders(requestId),
      ...problem.headers,
      'content-type': PROBLEM_MEDIA_TYPE,
      'content-length': Buffer.byteLength(body),
      date: new Date().toUTCString(),
      connection: 'close',
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#log.requestRejected(requestId, { status, code: problem.code, reason });
    const content = method === 'HEAD' ? '' : body;
    close(socket, `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${content}`);
  }
}

function afterResponse(response: ServerResponse, next: () => void): void {
  if (response.writableFinished) next();
  else response.once('close', next);
}

/**
 * Closes a connection, but keeps reading briefly: closing a socket with unread bytes resets it, and the client could
 * lose the response.
 */
function close(socket: Duplex, response = ''): void {
  const cut = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(cut));
  socket.end(response);
}

function failureOf(error: ConnectionError, { timeoutMs, routeProblem }: SocketErrorOptions): SocketFailure {
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT': {
      const detail = `The request must arrive completely within ${timeoutMs / 1_000} s.`;
      return { problem: new Problem('REQUEST_TIMEOUT', detail) };
    }
    case 'HPE_HEADER_OVERFLOW':
      return { problem: staticProblem(startsWithLongTarget(error) ? 'URI_TOO_LONG' : 'HEADERS_TOO_LARGE') };
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { problem: new Problem('PAYLOAD_TOO_LARGE', 'The chunk extensions of the body are too large.') };
    // Methods that Node.js does not know, or knows from other protocols.
    case 'HPE_INVALID_METHOD':
    case 'HPE_INVALID_CONSTANT': {
      const [, method, target] = REQUEST_LINE.exec(failedLine(error)) ?? [];
      if (method && target) return { problem: routeProblem(method, target), target };
    }
  }
  return { problem: new Problem('INVALID_REQUEST', 'The request must be well-formed HTTP/1.1.') };
}

/** Whether the request line itself overflowed; Node.js reports only the bytes it read last. */
function startsWithLongTarget({ rawPacket }: ConnectionError): boolean {
  return LONG_REQUEST_LINE.test(textOf(rawPacket));
}

/** The last chunk, from the beginning of the line where the parser stopped. */
function failedLine({ rawPacket, bytesParsed = 0 }: ConnectionError): string {
  const text = textOf(rawPacket);
  return text.slice(text.lastIndexOf('\n', bytesParsed - 1) + 1);
}

/** The method of the request whose head could not be parsed, unless that head began in an earlier chunk. */
function methodOf({ rawPacket, bytesParsed = 0 }: ConnectionError): string | undefined {
  const text = textOf(rawPacket);
  const end = text.lastIndexOf(END_OF_HEAD, bytesParsed - END_OF_HEAD.length);
  return METHOD.exec(end < 0 ? text : text.slice(end + END_OF_HEAD.length))?.[1];
}

function textOf(packet: unknown): string {
  return Buffer.isBuffer(packet) ? packet.toString('latin1') : '';
}
