import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { Code, ConnectError, type UnaryRequest, type UnaryResponse } from '@connectrpc/connect';
import { codeFromHttpStatus, errorFromJsonBytes } from '@connectrpc/connect/protocol-connect';
import { type Dispatcher, Pool } from 'undici';
import type { UnaryFn } from './compose-call.ts';
import type { ServicesConnector } from './services-connector.ts';
import { UnaryCallResponse } from './unary-call.ts';

const PROTO = 'application/proto';
const JSON_TYPE = 'application/json';

/** Shorter than servers keep idle connections. */
const IDLE_MS = 5_000;
/** Busy connections would never end, and a process that has just started would get no calls until others stop. */
const RENEWED_AFTER_MS = 60_000;

type Controller = Dispatcher.DispatchController;
type ResponseHeaders = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/**
 * Makes unary calls with Connect's protocol over HTTP/1.1, each with one write and no streams, which would cost a
 * small call more than everything else. A failed connection is UNAVAILABLE, with undici's error as the cause.
 */
export function unaryOverHttp(baseUrl: string, connector: ServicesConnector): UnaryFn {
  const { origin, pathname } = new URL(baseUrl);
  const prefix = pathname.replace(/\/$/, '');
  const pool = connectionPool(origin, connector);
  return async (request) => {
    const { method, message, header, signal } = request;
    signal.throwIfAborted();
    const exchange = new UnaryExchange();
    const onAbort = () => exchange.stop(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    header.set('content-type', PROTO);
    header.set('connect-protocol-version', '1');
    const path = `${prefix}/${method.parent.typeName}/${method.name}`;
    const body = toBinary(method.input, message);
    pool().dispatch({ method: 'POST', path, headers: header, body }, exchange);
    try {
      return responseOf(request, await exchange.received);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  };
}

/**
 * Returns the current connections. After the TLS files are replaced, the earlier ones close once their calls have
 * ended.
 */
function connectionPool(origin: string, { connect, tls }: ServicesConnector): () => Pool {
  const newPool = () =>
    new Pool(origin, {
      // Otherwise calls over TLS wait until the first connection says which protocol is spoken.
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      clientTtl: RENEWED_AFTER_MS,
      // Calls have deadlines of their own, and some wait long on purpose.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect,
    });
  let pool = newPool();
  tls?.files.onReplaced(() => {
    void pool.close();
    pool = newPool();
  });
  return () => pool;
}

interface Received {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: Buffer;
}

/** One request and its response. */
class UnaryExchange implements Dispatcher.DispatchHandler {
  readonly #received = Promise.withResolvers<Received>();
  readonly #chunks: Buffer[] = [];
  #status = 0;
  #headers: ResponseHeaders = {};
  #controller: Controller | undefined;
  #stopped: Error | undefined;

  get received(): Promise<Received> {
    return this.#received.promise;
  }

  /** Stops the exchange at once, even while it waits for a connection. */
  stop(reason: Error): void {
    this.#received.reject(reason);
    this.#stopped = reason;
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#stopped) controller.abort(this.#stopped);
  }

  onResponseStart(_controller: Controller, status: number, headers: ResponseHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const chunks = this.#chunks;
    const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    this.#received.resolve({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#received.reject(new ConnectError(error.message, Code.Unavailable, undefined, undefined, error));
  }
}

function responseOf({ method }: UnaryRequest, { status, headers, body }: Received): UnaryResponse {
  const type = headers['content-type'];
  if (status === 200 && type === PROTO) {
    return new UnaryCallResponse(method, fromBinary(method.output, body), () => headersOf(headers));
  }
  const metadata = headersOf(headers);
  const code = status === 200 ? Code.Internal : codeFromHttpStatus(status);
  const text = `HTTP ${status} with content type ${type}`;
  const unexpected = new ConnectError(text, code, metadata, undefined, gatewayError(status));
  throw status !== 200 && type === JSON_TYPE ? errorFromJsonBytes(body, metadata, unexpected) : unexpected;
}

/** The code of the cause when a load balancer could not pass a call on: services answer with these only in JSON. */
export const BAD_GATEWAY = 'BAD_GATEWAY';

const gatewayError = (status: number) =>
  [502, 503].includes(status) ? Object.assign(new Error(`HTTP ${status}`), { code: BAD_GATEWAY }) : undefined;

function headersOf(received: ResponseHeaders): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(received))
    for (const value of [values ?? []].flat()) headers.append(name, value);
  return headers;
}
