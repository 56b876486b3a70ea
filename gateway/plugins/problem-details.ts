import { ConnectError } from '@connectrpc/connect';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { PROBLEM_MEDIA_TYPE, Problem, problemBody } from '../problems/problem.ts';
import { PROBLEM_TYPES } from '../problems/problem-types.ts';
import { internalError, problemOfRpc } from '../problems/rpc-problems.ts';
import { undecodablePath } from './routing.ts';

/** Sends errors in the API's closed problem format, and logs internal ones. */
export class ProblemWriter {
  readonly #docsUrl: () => string;
  readonly #logger: Logger;

  /** `docsUrl`: the URL of the error documentation. */
  constructor(docsUrl: () => string, logger: Logger) {
    this.#docsUrl = docsUrl;
    this.#logger = logger;
  }

  /** Sends the error response of a request, for any thrown value. */
  send(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const problem = problemOf(error);
    this.#log(problem, request.id);
    request.problemCode = problem.code;
    // Drain the rest of the body: closing now could reset the connection before the client reads the response.
    if (problem.code === 'PAYLOAD_TOO_LARGE') reply.removeHeader('connection');
    const body = this.body(problem, request.id, request.raw.url ?? '');
    // Sent as bytes, because Fastify adds a charset to text and this media type has none.
    return reply
      .code(PROBLEM_TYPES[problem.code].status)
      .headers(problem.headers)
      .type(PROBLEM_MEDIA_TYPE)
      .send(Buffer.from(body));
  }

  body(problem: Problem, requestId: string, target: string): string {
    return JSON.stringify(problemBody(problem, { docsUrl: this.#docsUrl(), requestId, target }));
  }

  #log(problem: Problem, requestId: string): void {
    const { status } = PROBLEM_TYPES[problem.code];
    if (status < 500) return;
    // Requests refused because of overload are counted, and many: their line in the access log must suffice.
    if (problem.code === 'SERVICE_UNAVAILABLE' && problem.cause === undefined) return;
    const { code, cause = problem } = problem;
    // While the services are unavailable every request fails, and stack traces of the transport add nothing.
    if (code === 'INTERNAL_ERROR') this.#logger.error({ err: cause, requestId, code }, 'request failed');
    else this.#logger.warn({ reason: String(cause), requestId, code }, 'request failed');
  }
}

/** Maps any thrown value to a problem: a Problem, an RPC error or a Fastify error. */
function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof ConnectError) return problemOfRpc(error);
  switch ((error as { code?: unknown } | null)?.code) {
    case 'FST_ERR_BAD_URL':
      return undecodablePath();
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Problem('PAYLOAD_TOO_LARGE', 'The body must be at most 64 KiB.');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Problem('UNSUPPORTED_MEDIA_TYPE', 'Header Content-Type must be a media type.');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new Problem('INVALID_REQUEST', 'Header Content-Length must be the length of the body.');
    case 'ECONNRESET':
      return new Problem('INVALID_REQUEST', 'The body ended early.');
    default:
      return internalError(error);
  }
}
