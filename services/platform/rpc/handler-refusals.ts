import { Code } from '@connectrpc/connect';
import {
  createAsyncIterable,
  encodeEnvelope,
  type UniversalHandler,
  type UniversalServerRequest,
  type UniversalServerResponse,
} from '@connectrpc/connect/protocol';
import {
  codeToHttpStatus,
  createEndStreamSerialization,
  endStreamFlag,
  errorFromJsonBytes,
  errorToJsonBytes,
} from '@connectrpc/connect/protocol-connect';
import { findTrailerError } from '@connectrpc/connect/protocol-grpc';
import { trailerFlag, trailerParse, trailerSerialize } from '@connectrpc/connect/protocol-grpc-web';
import { callError, internalError } from './connect-errors.ts';
import { setGrpcStatus } from './grpc-status.ts';
import { withReason } from './refusal-reasons.ts';

/** A compression flag and the length of the message. */
const PREFIX_BYTES = 5;
const JSON_TYPE = 'application/json';

/** The refusals that Connect sends as a bare HTTP status. */
const BY_STATUS: Readonly<Record<number, readonly [reason: string, message: string]>> = {
  404: ['ROUTE_NOT_FOUND', 'there is no RPC at this path'],
  405: ['METHOD_NOT_ALLOWED', 'this RPC cannot be called with this HTTP method'],
  415: ['UNSUPPORTED_MEDIA_TYPE', 'this RPC cannot be called with this content type'],
  505: ['HTTP_VERSION_NOT_SUPPORTED', 'this RPC streams both ways, which requires HTTP/2'],
};

/** Wraps Connect's handler of an RPC, so that its refusals carry an ErrorInfo even if they precede the service. */
export function withReasons(handler: UniversalHandler): UniversalHandler {
  const handle = async (request: UniversalServerRequest) => {
    const response = await handler(request);
    if (response.body) return withReasonInBody(response, response.body);
    return refusedRequest(response.status, request.header.get('content-type'), response.header);
  };
  return Object.assign(handle, handler);
}

/**
 * The answer to a request that reaches no RPC: gRPC's own status for its clients, else Connect's error with this HTTP
 * status.
 */
export function refusedRequest(
  status: number,
  contentType: string | null | undefined,
  header = new Headers(),
): UniversalServerResponse {
  const [reason, message] = BY_STATUS[status] ?? ['INVALID_REQUEST', 'the request is invalid'];
  const error = callError(status === 400 ? Code.InvalidArgument : Code.Unimplemented, reason, message);
  if (contentType?.startsWith('application/grpc')) {
    const type = contentType.startsWith('application/grpc-web')
      ? 'application/grpc-web+proto'
      : 'application/grpc+proto';
    header.set('content-type', type);
    return { status: 200, header: setGrpcStatus(header, error) };
  }
  header.set('content-type', JSON_TYPE);
  return { status, header, body: createAsyncIterable([errorToJsonBytes(error, undefined)]) };
}

type Body = NonNullable<UniversalServerResponse['body']>;

async function withReasonInBody(
  response: UniversalServerResponse,
  body: Body,
): Promise<UniversalServerResponse> {
  const { status, header = new Headers(), trailer } = response;
  const type = header.get('content-type') ?? '';
  if (status !== 200) return refusedCall(header, body);
  if (type.startsWith('application/grpc-web')) return { ...response, body: mapped(body, webTrailer) };
  if (type.startsWith('application/connect+')) return { ...response, body: mapped(body, endOfStream) };
  if (!trailer) return response;
  return {
    ...response,
    body: mapped(
      body,
      (chunk) => chunk,
      () => explainTrailer(trailer),
    ),
  };
}

/** The error of a unary call over Connect: JSON, with an HTTP status that depends on its code. */
async function refusedCall(header: Headers, body: Body): Promise<UniversalServerResponse> {
  const chunks = await Array.fromAsync(body);
  const error = withReason(errorFromJsonBytes(Buffer.concat(chunks), undefined, internalError()));
  const bytes = errorToJsonBytes(error, undefined);
  header.set('content-length', String(bytes.length));
  return { status: codeToHttpStatus(error.code), header, body: createAsyncIterable([bytes]) };
}

/** The last chunk of a gRPC-Web body: its trailers. */
function webTrailer(chunk: Uint8Array): Uint8Array {
  if (chunk[0] !== trailerFlag) return chunk;
  const trailer = trailerParse(chunk.subarray(PREFIX_BYTES));
  explainTrailer(trailer);
  return encodeEnvelope(trailerFlag, trailerSerialize(trailer));
}

/** The last chunk of a stream over Connect. */
function endOfStream(chunk: Uint8Array): Uint8Array {
  if (chunk[0] !== endStreamFlag) return chunk;
  const serialization = createEndStreamSerialization(undefined);
  const { metadata, error } = serialization.parse(chunk.subarray(PREFIX_BYTES));
  if (!error) return chunk;
  return encodeEnvelope(endStreamFlag, serialization.serialize({ metadata, error: withReason(error) }));
}

function explainTrailer(trailer: Headers): void {
  const error = findTrailerError(trailer);
  if (error) setGrpcStatus(trailer, withReason(error));
}

/** The body with its chunks changed. Errors that its reader throws into it still reach the source. */
function mapped(body: Body, change: (chunk: Uint8Array) => Uint8Array, atEnd?: () => void): Body {
  const source = body[Symbol.asyncIterator]();
  const changed = (result: IteratorResult<Uint8Array>): IteratorResult<Uint8Array> => {
    if (!result.done) return { value: change(result.value) };
    atEnd?.();
    return result;
  };
  const iterator: AsyncIterator<Uint8Array> = { next: async () => changed(await source.next()) };
  if (source.throw) iterator.throw = (reason) => source.throw!(reason);
  if (source.return) iterator.return = (value) => source.return!(value);
  return { [Symbol.asyncIterator]: () => iterator };
}
