import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { PROBLEM_MEDIA_TYPE, Problem, plainProblem } from '../problems/problem.ts';
import { PROBLEM_TYPES } from '../problems/problem-types.ts';
import type { AccessLog } from './access-log.ts';
import type { ProblemWriter } from './problem-details.ts';
import { answerHeaders, newRequestId } from './response-headers.ts';

/** What Node.js gives with 'clientError'. */
interface ConnectionError extends Error {
  readonly code?: string;
  /** What was read last, and how far the parser came in it. */
  readonly rawPacket?: unknown;
  readonly bytesParsed?: number;
}

interface Refusal {
  readonly problem: Problem;
  /** Where it is known. */
  readonly target?: string;
}

interface SocketErrorOptions {
  /** In which a request must have arrived. */
  readonly timeoutMs: number;
  /** The refusal of a method and a target that no route is for. */
  readonly noRoute: (method: string, target: string) => Problem;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

const LONG_REQUEST_LINE = /^[A-Z]+ [^\n]{8000}/;
const REQUEST_LINE = /^([!#$%&'*+.^_`|~\w-]+) ([!-~]+) HTTP\/1\.[01]\r?\n/;
const LINGER_MS = 1_000;

/**
 * Answers what fails before there is a request that Fastify knows of, on the socket itself, with the same body and
 * headers as every other error: requests that are no HTTP, too large, or too slow. A request is answered once, and
 * those before it on the same connection are answered first.
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

  /** Knows of every request, and keeps Node.js from answering Expect and CONNECT in its own words. */
  watch(server: Server): void {
    server.on('request', (request, response) =>
      this.#lastRequests.set(request.socket, { request, response }),
    );
    server.on('checkContinue', (request, response) => {
      // Where requests wait for those before them, Node.js would write this into the answer that is on its way.
      if (response.socket) response.writeContinue();
      else response.once('socket', () => response.headersSent || response.writeContinue());
      server.emit('request', request, response);
    });
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    server.on('connect', ({ url: target = '' }: IncomingMessage, socket: Duplex) => {
      // Node.js has let go of this socket: unread bytes and errors are nobody's but ours.
      socket.on('error', () => socket.destroy());
      socket.resume();
      this.#fail(socket, { problem: this.#options.noRoute('CONNECT', target), target }, 'CONNECT');
    });
  }

  /** Answers a connection of which no more requests can be read, and closes it. */
  answer(error: ConnectionError, socket: Duplex): void {
    const silent = (socket as Socket).bytesRead === 0;
    if (error.code === 'ECONNRESET' || socket.destroyed || silent) socket.destroy();
    else this.#fail(socket, refusalOf(error, this.#options), error.code);
  }

  #fail(socket: Duplex, { problem, target = '/' }: Refusal, reason: string | undefined): void {
    // What still arrives after the first error is read and forgotten.
    if (this.#failed.has(socket)) return;
    this.#failed.add(socket);
    const last = this.#lastRequests.get(socket);
    const end = (of: string) => this.#end(socket, problem, reason, of);
    if (last === undefined) {
      end(target);
      return;
    }
    const { request, response } = last;
    if (request.complete) afterAnswer(response, () => end(target));
    else if (response.headersSent) afterAnswer(response, () => close(socket));
    // That request itself fails; it has the socket once those before it have been answered.
    else if (response.socket) end(request.url!);
    else response.once('socket', () => end(request.url!));
  }

  #end(socket: Duplex, problem: Problem, reason: string | undefined, target: string): void {
    if (!socket.writable) return;
    const requestId = newRequestId();
    const { status } = PROBLEM_TYPES[problem.code];
    const body = this.#writer.body(problem, requestId, target);
    const headers = {
      ...answerHeaders(requestId),
      ...problem.headers,
      'content-type': PROBLEM_MEDIA_TYPE,
      'content-length': Buffer.byteLength(body),
      date: new Date().toUTCString(),
      connection: 'close',
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#log.refusedEarly(requestId, { status, code: problem.code, reason });
    close(socket, `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  }
}

function afterAnswer(response: ServerResponse, next: () => void): void {
  if (response.writableFinished) next();
  else response.once('close', next);
}

/**
 * Closes a connection, and goes on reading for a moment: a socket that is closed with bytes unread is reset, and the
 * client may lose the answer by it.
 */
function close(socket: Duplex, lastWords = ''): void {
  const cut = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(cut));
  socket.end(lastWords);
}

function refusalOf(error: ConnectionError, { timeoutMs, noRoute }: SocketErrorOptions): Refusal {
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT': {
      const detail = `The request must arrive completely within ${timeoutMs / 1_000} s.`;
      return { problem: new Problem('REQUEST_TIMEOUT', detail) };
    }
    case 'HPE_HEADER_OVERFLOW':
      return { problem: plainProblem(startsWithLongTarget(error) ? 'URI_TOO_LONG' : 'HEADERS_TOO_LARGE') };
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { problem: new Problem('PAYLOAD_TOO_LARGE', 'The chunk extensions of the body are too large.') };
    // Methods that Node.js does not know, and those that it knows of other protocols.
    case 'HPE_INVALID_METHOD':
    case 'HPE_INVALID_CONSTANT': {
      const [, method, target] = REQUEST_LINE.exec(failedLine(error)) ?? [];
      if (method && target) return { problem: noRoute(method, target), target };
    }
  }
  return { problem: new Problem('INVALID_REQUEST', 'The request must be well-formed HTTP/1.1.') };
}

/** Whether what overflowed is the request line itself; Node.js tells only which bytes it read last. */
function startsWithLongTarget({ rawPacket }: ConnectionError): boolean {
  return LONG_REQUEST_LINE.test(textOf(rawPacket));
}

/** What was read last, from the beginning of the line in which the parser stopped. */
function failedLine({ rawPacket, bytesParsed = 0 }: ConnectionError): string {
  const text = textOf(rawPacket);
  return text.slice(text.lastIndexOf('\n', bytesParsed - 1) + 1);
}

function textOf(packet: unknown): string {
  return Buffer.isBuffer(packet) ? packet.toString('latin1') : '';
}
