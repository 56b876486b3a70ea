import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { constants, type Http2ServerRequest } from 'node:http2';
import { base64Decode } from '@bufbuild/protobuf/wire';
import {
  type ConnectRouterOptions,
  type ContextValues,
  createConnectRouter,
  createContextValues,
  type Interceptor,
} from '@connectrpc/connect';
import type { UniversalServerResponse } from '@connectrpc/connect/protocol';
import {
  compressionBrotli,
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from '@connectrpc/connect-node';
import { type ExchangeLimits, JSON_OPTIONS, lateMessage } from './exchange.ts';
import { refusedRequest, withReasons } from './handler-refusals.ts';
import { storePeer } from './peer-certificate.ts';
import type { ServiceBinding } from './service-binding.ts';

/** Serves RPCs with Connect's own handlers, over all of its protocols, and refuses all other requests. */
export function createConnectPort(
  bindings: readonly ServiceBinding[],
  { bodyTimeoutMs, ...options }: ConnectRouterOptions & Pick<ExchangeLimits, 'bodyTimeoutMs'>,
): RequestListener {
  const router = createConnectRouter({
    acceptCompression: [compressionGzip, compressionBrotli],
    jsonOptions: JSON_OPTIONS,
    ...options,
    interceptors: [endWithSignal, ...(options.interceptors ?? [])],
  });
  for (const binding of bindings) binding.register(router);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, withReasons(handler)]));
  return (request, response) => {
    const answer = async (): Promise<UniversalServerResponse> => {
      const contentType = request.headers['content-type'];
      const url = urlOf(request);
      if (!url || !hasMessage(url)) return refusedRequest(400, contentType);
      const handler = handlers.get(request.url!.split('?', 1)[0]!);
      if (!handler) return refusedRequest(404, contentType);
      // If Connect destroyed a body that it refuses, the connection would stay blocked.
      const body = request.iterator({ destroyOnReturn: false });
      const isOneMessage = ['unary', 'server_streaming'].includes(handler.method.methodKind);
      return handler({
        ...universalRequestFromNodeRequest(request, response, undefined, peerValues(request)),
        body: isOneMessage ? within(bodyTimeoutMs, body) : body,
      });
    };
    discardRest(request, response);
    answer()
      .then((answered) => universalResponseToNodeResponse(answered, response))
      // Handlers respond to their own errors, so a failure here is one of the connection.
      .catch(() => response.destroy());
  };
}

/** Ends a call at its deadline, even if its implementation ignores the signal. */
const endWithSignal: Interceptor = (next) => async (request) => {
  const { signal, stream } = request;
  if (stream) return next(request);
  signal.throwIfAborted();
  const ended = Promise.withResolvers<never>();
  const onAbort = () => ended.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([next(request), ended.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
};

/** Discards the unread rest of a request after the response: it would block the connection. */
function discardRest(request: IncomingMessage | Http2ServerRequest, response: ServerResponse): void {
  if (!('stream' in request)) response.once('finish', () => request.resume());
  else {
    const { stream } = request;
    // The last step of a response: the trailers are sent before the next immediate.
    stream.once('wantTrailers', () =>
      setImmediate(() => !request.complete && stream.close(constants.NGHTTP2_NO_ERROR)),
    );
  }
}

/** The body; DEADLINE_EXCEEDED if it does not arrive in time. */
async function* within(
  timeoutMs: number,
  body: AsyncIterableIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(lateMessage(timeoutMs)), timeoutMs);
  try {
    for (;;) {
      const { done, value } = await Promise.race([body.next(), late.promise]);
      if (done) return;
      yield value;
    }
  } finally {
    clearTimeout(timer);
    // Not awaited: it completes only when the late chunk arrives.
    void body.return?.();
  }
}

/** The values of a call, with the certificate of its client. */
function peerValues(request: IncomingMessage | Http2ServerRequest): ContextValues {
  const values = createContextValues();
  storePeer(values, 'stream' in request ? request.stream.session : request.socket);
  return values;
}

/** The URL of path and host, if they form one; HTTP/1.0 requests may have no host. */
function urlOf(request: IncomingMessage): URL | null {
  const authority = 'authority' in request ? request.authority : request.headers.host;
  return authority === undefined ? null : URL.parse(request.url ?? '', `http://${authority}`);
}

/** False for a message in invalid Base64, which Connect would answer as an internal error. */
function hasMessage({ searchParams }: URL): boolean {
  if (searchParams.get('base64') !== '1') return true;
  try {
    base64Decode(searchParams.get('message') ?? '');
    return true;
  } catch {
    return false;
  }
}
