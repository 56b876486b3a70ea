import { ConnectError } from '@connectrpc/connect';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { GatewayApp } from '../gateway-app.ts';
import { PROBLEM_MEDIA_TYPE, Problem, problemBody } from '../problems/problem.ts';
import { PROBLEM_TYPES } from '../problems/problem-types.ts';
import { internalError, problemOfRpc } from '../problems/rpc-problems.ts';
import { undecodablePath } from './routing.ts';

/** Answers failures with the closed body of the API, and logs those of our own. */
export class ProblemWriter {
  readonly #docsUrl: () => string;
  readonly #logger: Logger;

  /** `docsUrl`: where the documentation of errors is served. */
  constructor(docsUrl: () => string, logger: Logger) {
    this.#docsUrl = docsUrl;
    this.#logger = logger;
  }

  /** Answers a request whose handling failed, with whatever was thrown. */
  answer(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const problem = problemOf(error);
    this.#log(problem, request.id);
    request.problemCode = problem.code;
    // The rest of the body is read and forgotten: the reset of a closed connection might overtake the answer.
    if (problem.code === 'PAYLOAD_TOO_LARGE') reply.removeHeader('connection');
    const body = this.body(problem, request.id, request.raw.url ?? '');
    // Bytes, because Fastify would add a charset, which this media type does not have, to text.
    return reply
      .code(PROBLEM_TYPES[problem.code].status)
      .headers(problem.headers)
      .type(PROBLEM_MEDIA_TYPE)
      .send(Buffer.from(body));
  }

  /** The body of a problem, as JSON. */
  body(problem: Problem, requestId: string, target: string): string {
    return JSON.stringify(problemBody(problem, { docsUrl: this.#docsUrl(), requestId, target }));
  }

  #log(problem: Problem, requestId: string): void {
    const { status } = PROBLEM_TYPES[problem.code];
    if (status < 500) return;
    const level = problem.code === 'INTERNAL_ERROR' ? 'error' : 'warn';
    this.#logger[level]({ err: problem.cause ?? problem, requestId, code: problem.code }, 'request failed');
  }
}

/** Everything that is thrown while a request is handled ends here. */
export function answerFailures(app: GatewayApp, writer: ProblemWriter): void {
  app.setErrorHandler((error, request, reply) => writer.answer(error, request, reply));
}

/** The one mapping of what can be thrown to a problem: our own, an RPC's, Fastify's. */
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
