import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2Session, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { DescMethod, DescMethodUnary } from '@bufbuild/protobuf';
import { createContextValues, type Interceptor } from '@connectrpc/connect';
import { createMethodSerializationLookup } from '@connectrpc/connect/protocol';
import { compressionGzip } from '@connectrpc/connect-node';
import type { CallLimit } from './call-limit.ts';
import { composeCall, type UnaryFn } from './compose-call.ts';
import { isPlainConnect, serveConnect } from './connect-exchange.ts';
import { type Answer, type Exchange, type ExchangeLimits, JSON_OPTIONS } from './exchange.ts';
import { isPlainGrpc, serveGrpc } from './grpc-exchange.ts';
import type { IdentifyCaller } from './identify-callers.ts';
import { storePeer } from './peer-certificate.ts';
import type { ServiceBinding } from './service-binding.ts';
import { UnaryCall } from './unary-call.ts';

interface ServedMethod {
  readonly method: DescMethodUnary;
  readonly run: UnaryFn;
  readonly serialization: ReturnType<typeof createMethodSerializationLookup>;
}

interface UnaryPortOptions extends ExchangeLimits {
  readonly bindings: readonly ServiceBinding[];
  readonly interceptors: readonly Interceptor[];
  readonly identify: IdentifyCaller;
  readonly limit: CallLimit;
}

/**
 * Serves plain unary calls: gRPC over HTTP/2, and Connect over HTTP/1.1. Connect's own handlers use one pipeline for
 * streams and unary calls, which costs a small call more than everything else: `npm run bench -- reads` measures this port
 * at three times the calls a second of a bare handler. They serve the rest: streams, gRPC-Web, compressed requests, GET, and
 * invalid requests.
 */
export class UnaryPort {
  readonly #methods: ReadonlyMap<string, ServedMethod>;
  readonly #options: UnaryPortOptions;

  constructor(options: UnaryPortOptions) {
    this.#options = options;
    this.#methods = new Map(servedMethods(options).map((served) => [pathOf(served.method), served]));
  }

  /** Answers a request over HTTP/2; returns false to leave it to Connect. */
  serveStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): boolean {
    const served = this.#find(headers[':path']);
    if (!served || headers[':method'] !== 'POST' || !isPlainGrpc(headers)) return false;
    serveGrpc(stream, headers, this.#options, (exchange) =>
      this.#options.limit(() => this.#answer(served, exchange, stream.session)),
    );
    return true;
  }

  /** Answers a request over HTTP/1.1; returns false to leave it to Connect. */
  serveRequest(request: IncomingMessage, response: ServerResponse): boolean {
    const served = this.#find(request.url);
    if (!served || request.method !== 'POST' || !isPlainConnect(request.headers)) return false;
    serveConnect(request, response, this.#options, (exchange) =>
      this.#options.limit(() => this.#answer(served, exchange, request.socket)),
    );
    return true;
  }

  #find(path: string | undefined): ServedMethod | undefined {
    return path === undefined ? undefined : this.#methods.get(path);
  }

  async #answer(
    { method, run, serialization }: ServedMethod,
    exchange: Exchange,
    connection: Socket | Http2Session | undefined,
  ): Promise<Answer> {
    const { headers, isBinary, protocolName, timeout, acceptsGzip } = exchange;
    const contextValues = createContextValues();
    storePeer(contextValues, connection);
    await this.#options.identify(method, (name) => headers[name]?.toString(), contextValues);
    if (timeout.error) throw timeout.error;
    const message = serialization.getI(isBinary).parse(await exchange.read());
    const call = new UnaryCall(method, message, {
      protocolName,
      headers: () => headersOf(headers),
      contextValues,
    });
    exchange.response.once('close', () => {
      if (!exchange.response.headersSent) call.cancel();
    });
    const response = await call.run(() => run(call), timeout.timeoutMs, undefined);
    const answer = serialization.getO(isBinary).serialize(response.message);
    const isCompressed = acceptsGzip && answer.length >= this.#options.compressMinBytes;
    return {
      message: isCompressed ? await compressionGzip.compress(answer) : answer,
      isCompressed,
      headers: call.setResponseHeaders,
    };
  }
}

const pathOf = ({ parent, name }: DescMethodUnary) => `/${parent.typeName}/${name}`;

const isUnary = (method: DescMethod): method is DescMethodUnary => method.methodKind === 'unary';

function servedMethods({ bindings, interceptors, readMaxBytes }: UnaryPortOptions): ServedMethod[] {
  return bindings.flatMap((binding) =>
    binding.service.methods.filter(isUnary).flatMap((method): ServedMethod[] => {
      const run = composeCall(method, binding, interceptors);
      const limits = { readMaxBytes, writeMaxBytes: Number.MAX_SAFE_INTEGER };
      const serialization = createMethodSerializationLookup(method, undefined, JSON_OPTIONS, limits);
      return run ? [{ method, run, serialization }] : [];
    }),
  );
}

/** The headers of a request as Headers, without the pseudo-headers of HTTP/2. */
function headersOf(incoming: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming)) {
    if (value !== undefined && !name.startsWith(':')) headers.set(name, value.toString());
  }
  return headers;
}
