import type { DescMessage, DescMethodUnary, DescService, MessageShape } from '@bufbuild/protobuf';
import {
  Code,
  type ConnectError,
  type ContextValues,
  type HandlerContext,
  type UnaryRequest,
  type UnaryResponse,
} from '@connectrpc/connect';
import { callError } from './connect-errors.ts';

/** The headers of a call, in any form that fetch accepts. */
export type HeadersSource = ConstructorParameters<typeof Headers>[0];

const NO_TRAILER = new Headers();

/** Where a call comes from. */
export interface CallOrigin {
  readonly protocolName: 'in-process' | 'grpc' | 'connect';
  /** The headers of the request, or a function that converts them. */
  readonly headers: HeadersSource | (() => Headers);
  readonly contextValues: ContextValues;
}

/**
 * One unary call, inside the process or on the port: the interceptors' request and the implementation's context in one
 * object. Headers and the abort signal are created lazily, because few calls need them and this path is hot.
 */
export class UnaryCall implements UnaryRequest, HandlerContext {
  readonly stream = false;
  readonly requestMethod = 'POST';
  readonly responseTrailer = NO_TRAILER;
  readonly protocolName: string;
  readonly service: DescService;
  readonly method: DescMethodUnary;
  readonly message: MessageShape<DescMessage>;
  readonly contextValues: ContextValues;
  readonly #headers: CallOrigin['headers'];
  #header: Headers | undefined;
  #responseHeader: Headers | undefined;
  #controller: AbortController | undefined;
  #endedBy: ConnectError | undefined;
  #deadlineAt: number | undefined;

  constructor(
    method: DescMethodUnary,
    message: MessageShape<DescMessage>,
    { protocolName, headers, contextValues }: CallOrigin,
  ) {
    this.service = method.parent;
    this.method = method;
    this.message = message;
    this.protocolName = protocolName;
    this.#headers = headers;
    this.contextValues = contextValues;
  }

  get url(): string {
    return `${this.service.typeName}/${this.method.name}`;
  }

  get values(): ContextValues {
    return this.contextValues;
  }

  get header(): Headers {
    const source = this.#headers;
    this.#header ??= typeof source === 'function' ? source() : new Headers(source);
    return this.#header;
  }

  get requestHeader(): Headers {
    return this.header;
  }

  get responseHeader(): Headers {
    this.#responseHeader ??= new Headers();
    return this.#responseHeader;
  }

  /** The response headers, if any have been set. */
  get setResponseHeaders(): Headers | undefined {
    return this.#responseHeader;
  }

  /** Aborts when the deadline passes or the caller cancels. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#endedBy) this.#controller.abort(this.#endedBy);
    }
    return this.#controller.signal;
  }

  /** The time until the deadline, 0 or less once it has passed; undefined without one. */
  timeoutMs(): number | undefined {
    return this.#deadlineAt === undefined ? undefined : this.#deadlineAt - performance.now();
  }

  /** Aborts the signal of a call whose caller has stopped waiting. */
  cancel(): void {
    this.#abort(canceled());
  }

  #abort(error: ConnectError): void {
    this.#endedBy = error;
    this.#controller?.abort(error);
  }

  /** Runs the call until it completes, its deadline passes or its caller cancels. */
  run<T>(
    start: () => Promise<T>,
    timeoutMs: number | undefined,
    caller: AbortSignal | undefined,
  ): Promise<T> {
    if (timeoutMs === undefined && caller === undefined) return start();
    if (timeoutMs !== undefined) this.#deadlineAt = performance.now() + timeoutMs;
    return new Promise((resolve, reject) => {
      const end = (error: ConnectError) => {
        stopWaiting();
        this.#abort(error);
        reject(error);
      };
      const onAbort = () => end(canceled());
      const onDeadline = () =>
        end(callError(Code.DeadlineExceeded, 'DEADLINE_EXCEEDED', 'the deadline has passed'));
      const timer = timeoutMs === undefined ? undefined : setTimeout(onDeadline, timeoutMs);
      const stopWaiting = () => {
        clearTimeout(timer);
        caller?.removeEventListener('abort', onAbort);
      };
      if (caller?.aborted) return onAbort();
      caller?.addEventListener('abort', onAbort, { once: true });
      start().then(
        (answer) => {
          stopWaiting();
          resolve(answer);
        },
        (error: unknown) => {
          stopWaiting();
          reject(error);
        },
      );
    });
  }
}

const canceled = () => callError(Code.Canceled, 'CALL_CANCELED', 'the call was canceled');

/** The response of a call. Its headers are created when they are read; RPCs have no trailers. */
export class UnaryCallResponse implements UnaryResponse {
  readonly stream = false;
  readonly service: DescService;
  readonly method: DescMethodUnary;
  readonly message: MessageShape<DescMessage>;
  readonly trailer = NO_TRAILER;
  readonly #header: () => Headers;

  constructor(method: DescMethodUnary, message: MessageShape<DescMessage>, header: () => Headers) {
    this.service = method.parent;
    this.method = method;
    this.message = message;
    this.#header = header;
  }

  get header(): Headers {
    return this.#header();
  }
}
