import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { ConnectError } from '@connectrpc/connect';
import { codeToHttpStatus, errorToJsonBytes, parseTimeout } from '@connectrpc/connect/protocol-connect';
import {
  type Answer,
  type AnswerUnary,
  acceptsGzip,
  connectErrorOf,
  type ExchangeLimits,
  readBody,
} from './exchange.ts';

const PROTO = 'application/proto';
const JSON_TYPE = 'application/json';

/** Whether a request of Connect's protocol for unary calls is not compressed. */
export function isPlainConnect(headers: IncomingHttpHeaders): boolean {
  const type = headers['content-type'];
  const encoding = headers['content-encoding'];
  return (type === JSON_TYPE || type === PROTO) && (encoding === undefined || encoding === 'identity');
}

/** Answers one request of Connect's protocol. */
export function serveConnect(
  request: IncomingMessage,
  response: ServerResponse,
  limits: ExchangeLimits,
  answer: AnswerUnary,
): void {
  const { headers } = request;
  const exchange = {
    protocolName: 'connect',
    isBinary: headers['content-type'] === PROTO,
    headers,
    timeout: parseTimeout(headers['connect-timeout-ms']?.toString() ?? null, limits.maxTimeoutMs),
    acceptsGzip: acceptsGzip(headers['accept-encoding']),
    response,
    read: () => readBody(request, limits.readMaxBytes, limits.bodyTimeoutMs),
  } as const;
  const type = exchange.isBinary ? PROTO : JSON_TYPE;
  answer(exchange)
    .then((answered) => respond(response, type, answered))
    .catch((error: unknown) => {
      refuse(response, connectErrorOf(error));
      // The rest of a body that is too long blocks the connection.
      request.resume();
    });
}

function respond(response: ServerResponse, type: string, { message, isCompressed, headers }: Answer): void {
  if (response.destroyed) return;
  response.writeHead(200, {
    'content-type': type,
    'content-length': message.length,
    ...(isCompressed && { 'content-encoding': 'gzip' }),
    ...(headers && Object.fromEntries(headers)),
  });
  response.end(message);
}

function refuse(response: ServerResponse, error: ConnectError): void {
  if (response.destroyed || response.headersSent) return;
  const body = errorToJsonBytes(error, undefined);
  const metadata = Object.fromEntries(error.metadata);
  response.writeHead(codeToHttpStatus(error.code), {
    ...metadata,
    'content-type': JSON_TYPE,
    'content-length': body.length,
  });
  response.end(body);
}
