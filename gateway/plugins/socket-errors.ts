import type { IncomingMessage, Server } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { PROBLEM_MEDIA_TYPE, Problem } from '../problem.ts';
import { PROBLEM_TYPES } from '../problem-types.ts';
import type { AccessLog } from './access-log.ts';
import type { ProblemWriter } from './problem-details.ts';
import { answerHeaders, newRequestId } from './response-headers.ts';
import { uriTooLong } from './routing.ts';

/** What Node.js gives with 'clientError'. */
interface ConnectionError extends Error {
  readonly code?: string;
  readonly rawPacket?: unknown;
}

const LONG_REQUEST_LINE = /^[A-Z]+ [^\n]{8000}/;

/**
 * Answers what fails before there is a request that Fastify knows of, on the socket itself, with the same body and
 * headers as every other error: requests that are no HTTP, too large, or too slow.
 */
export class SocketErrors {
  readonly #writer: ProblemWriter;
  readonly #log: AccessLog;

  constructor(writer: ProblemWriter, log: AccessLog) {
    this.#writer = writer;
    this.#log = log;
  }

  /** Answers a connection whose request could not be read, and closes it. */
  answer(error: ConnectionError, socket: Duplex): void {
    if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
      socket.destroy();
      return;
    }
    this.#end(socket, problemOfConnection(error), error.code);
  }

  /** Keeps Node.js from answering in its own words what HTTP knows beside requests: Expect and CONNECT. */
  watch(server: Server): void {
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    server.on('connect', (_request: IncomingMessage, socket: Duplex) =>
      this.#end(socket, new Problem('INVALID_REQUEST', 'The method CONNECT is not allowed.'), 'CONNECT'),
    );
  }

  #end(socket: Duplex, problem: Problem, reason: string | undefined): void {
    const requestId = newRequestId();
    const { status } = PROBLEM_TYPES[problem.code];
    const body = this.#writer.body(problem, requestId, '/');
    const headers = {
      ...answerHeaders(requestId),
      'content-type': PROBLEM_MEDIA_TYPE,
      'content-length': Buffer.byteLength(body),
      date: new Date().toUTCString(),
      connection: 'close',
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#log.refusedEarly(requestId, { status, code: problem.code, reason });
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`, () =>
      socket.destroy(),
    );
  }
}

function problemOfConnection({ code, rawPacket }: ConnectionError): Problem {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem('REQUEST_TIMEOUT', 'The request did not arrive completely in time.');
    case 'HPE_HEADER_OVERFLOW':
      return startsWithLongTarget(rawPacket)
        ? uriTooLong()
        : new Problem('HEADERS_TOO_LARGE', 'Request line and headers together must be at most 16 KiB.');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new Problem('PAYLOAD_TOO_LARGE', 'The chunk extensions of the body are too large.');
    default:
      return new Problem('INVALID_REQUEST', 'The request must be well-formed HTTP/1.1.');
  }
}

/** Whether what overflowed is the request line itself; Node.js tells only which bytes it read last. */
function startsWithLongTarget(packet: unknown): boolean {
  return Buffer.isBuffer(packet) && LONG_REQUEST_LINE.test(packet.toString('latin1'));
}
