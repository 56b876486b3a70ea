import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { Code, type ConnectError } from '@connectrpc/connect';
import { parseTimeout } from '@connectrpc/connect/protocol-grpc';
import { callError } from './connect-errors.ts';
import {
  type Answer,
  type AnswerUnary,
  acceptsGzip,
  connectErrorOf,
  type ExchangeLimits,
  readBody,
} from './exchange.ts';
import { setGrpcStatus } from './grpc-status.ts';

/** A compression flag and the length of the message. */
const PREFIX_BYTES = 5;
const CONTENT_TYPE = 'application/grpc+proto';

/** Whether a request carries protobuf that is not compressed. */
export function isPlainGrpc(headers: IncomingHttpHeaders): boolean {
  const type = headers['content-type'];
  const encoding = headers['grpc-encoding'];
  return (
    (type === 'application/grpc' || type === CONTENT_TYPE) &&
    (encoding === undefined || encoding === 'identity')
  );
}

/** Answers one gRPC request. */
export function serveGrpc(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  limits: ExchangeLimits,
  answer: AnswerUnary,
): void {
  // A broken connection is not an error of the service; 'close' follows.
  stream.on('error', () => undefined);
  const exchange = {
    protocolName: 'grpc',
    isBinary: true,
    headers,
    timeout: parseTimeout(headers['grpc-timeout']?.toString() ?? null, limits.maxTimeoutMs),
    acceptsGzip: acceptsGzip(headers['grpc-accept-encoding']),
    response: stream,
    read: async () =>
      messageIn(await readBody(stream, PREFIX_BYTES + limits.readMaxBytes, limits.bodyTimeoutMs)),
  } as const;
  answer(exchange)
    .then((answered) => respond(stream, answered))
    .catch((error: unknown) => refuse(stream, connectErrorOf(error)));
}

/** The only message of a body. UNIMPLEMENTED for none or several, as gRPC specifies. */
function messageIn(body: Buffer): Uint8Array {
  if (body.length === 0) throw invalid('missing input message for unary method', Code.Unimplemented);
  const end = body.length < PREFIX_BYTES ? Infinity : PREFIX_BYTES + body.readUInt32BE(1);
  if (body.length < end) throw invalid('incomplete envelope');
  if (body.length > end) throw invalid('received extra input message for unary method', Code.Unimplemented);
  if (body[0] !== 0) throw invalid('received compressed message, but no encoding is named');
  return body.subarray(PREFIX_BYTES);
}

const invalid = (message: string, code = Code.InvalidArgument) =>
  callError(code, 'INVALID_REQUEST', `protocol error: ${message}`);

function respond(stream: ServerHttp2Stream, { message, isCompressed, headers }: Answer): void {
  if (stream.destroyed) return;
  stream.respond(
    {
      ':status': 200,
      'content-type': CONTENT_TYPE,
      ...(isCompressed && { 'grpc-encoding': 'gzip' }),
      ...(headers && Object.fromEntries(headers)),
    },
    { waitForTrailers: true },
  );
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  const body = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  body[0] = isCompressed ? 1 : 0;
  body.writeUInt32BE(message.length, 1);
  body.set(message, PREFIX_BYTES);
  stream.end(body);
}

function refuse(stream: ServerHttp2Stream, error: ConnectError): void {
  if (stream.destroyed || stream.headersSent) return;
  const status = Object.fromEntries(setGrpcStatus(new Headers(), error));
  stream.respond({ ':status': 200, 'content-type': CONTENT_TYPE, ...status }, { endStream: true });
  // Stops receiving the rest of the body. Node itself closes a stream whose body was never read.
  if (stream.readableFlowing !== null && !stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
}
