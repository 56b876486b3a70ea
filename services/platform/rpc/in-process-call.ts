import type { DescMessage, DescMethodUnary, DescService, MessageShape } from '@bufbuild/protobuf';
import {
  Code,
  ConnectError,
  type ContextValues,
  type HandlerContext,
  type UnaryRequest,
} from '@connectrpc/connect';

/** The headers of a call, in any form that fetch accepts. */
export type HeadersSource = ConstructorParameters<typeof Headers>[0];

/**
 * One unary call inside the process: the interceptors' request and the implementation's context in one object. Headers and
 * the abort signal are created lazily, because few calls need them and this path is hot.
 */
export class InProcessCall implements UnaryRequest, HandlerContext {
  readonly stream = false;
  readonly requestMethod = 'POST';
  readonly protocolName = 'in-process';
  readonly service: DescService;
  readonly method: DescMethodUnary;
  readonly message: MessageShape<DescMessage>;
  readonly contextValues: ContextValues;
  readonly #headers: HeadersSource;
  #header: Headers | undefined;
  #responseHeader: Headers | undefined;
  #responseTrailer: Headers | undefined;
  #controller: AbortController | undefined;
  #endedBy: ConnectError | undefined;

  constructor(
    method: DescMethodUnary,
    message: MessageShape<DescMessage>,
    headers: HeadersSource,
    contextValues: ContextValues,
  ) {
    this.service = method.parent;
    this.method = method;
    this.message = message;
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
    this.#header ??= new Headers(this.#headers);
    return this.#header;
  }

  get requestHeader(): Headers {
    return this.header;
  }

  get responseHeader(): Headers {
    this.#responseHeader ??= new Headers();
    return this.#responseHeader;
  }

  get responseTrailer(): Headers {
    this.#responseTrailer ??= new Headers();
    return this.#responseTrailer;
  }

  /** Aborts when the deadline passes or the caller cancels. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#endedBy) this.#controller.abort(this.#endedBy);
    }
    return this.#controller.signal;
  }

  timeoutMs(): undefined {
    return undefined;
  }

  /** Runs the call until it completes, its deadline passes or its caller cancels. */
  run<T>(
    start: () => Promise<T>,
    timeoutMs: number | undefined,
    caller: AbortSignal | undefined,
  ): Promise<T> {
    if (timeoutMs === undefined && caller === undefined) return start();
    return new Promise((resolve, reject) => {
      const end = (error: ConnectError) => {
        stopWaiting();
        this.#endedBy = error;
        this.#controller?.abort(error);
        reject(error);
      };
      const onAbort = () => end(new ConnectError('the call was canceled', Code.Canceled));
      const onDeadline = () => end(new ConnectError('the deadline has passed', Code.DeadlineExceeded));
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

/** The response of a call, with the metadata of the call. */
export class InProcessResponse {
  readonly stream = false;
  readonly service: DescService;
  readonly method: DescMethodUnary;
  readonly message: MessageShape<DescMessage>;
  readonly #call: InProcessCall;

  constructor(call: InProcessCall, message: MessageShape<DescMessage>) {
    this.service = call.service;
    this.method = call.method;
    this.message = message;
    this.#call = call;
  }

  get header(): Headers {
    return this.#call.responseHeader;
  }

  get trailer(): Headers {
    return this.#call.responseTrailer;
  }
}
