import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  isMessage,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import {
  Code,
  ConnectError,
  type ContextValues,
  createContextValues,
  type HandlerContext,
  type Interceptor,
  type Transport,
  type UnaryRequest,
  type UnaryResponse,
} from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import { type Caller, identifyCall } from './call-context.ts';
import type { ServiceBinding } from './service-binding.ts';

/** Header by which a caller inside the house hands on the id of the causing request. */
export const REQUEST_ID_HEADER = 'request-id';

type UnaryFn = (request: UnaryRequest) => Promise<UnaryResponse>;
type Implementation = (message: unknown, context: HandlerContext) => unknown;

/**
 * A transport to services of the same process: it runs the port's own interceptors, then the implementation, without
 * serialising. The caller's identity is fixed here and never read from headers. Messages pass by reference: neither
 * side changes one after handing it over, and an answer may be a plain object with `$typeName`. A service that this
 * process does not run is called `elsewhere`; the bindings may still grow until the first call.
 */
export function createInProcessTransport(
  bindings: readonly ServiceBinding[],
  interceptors: readonly Interceptor[],
  caller: Caller,
  elsewhere?: Transport,
): Transport {
  const calls = new Map<DescMethod, UnaryFn | undefined>();
  const callOf = (method: DescMethodUnary): UnaryFn | undefined => {
    if (!calls.has(method)) {
      const binding = bindings.find(({ service }) => service === method.parent);
      const implementation = (binding?.implementation as Record<string, Implementation> | undefined)?.[
        method.localName
      ];
      calls.set(method, implementation && composeCall(method, implementation, interceptors));
    }
    return calls.get(method);
  };
  return {
    async unary<I extends DescMessage, O extends DescMessage>(
      method: DescMethodUnary<I, O>,
      signal: AbortSignal | undefined,
      timeoutMs: number | undefined,
      headers: ConstructorParameters<typeof Headers>[0],
      input: MessageInitShape<I>,
      contextValues?: ContextValues,
    ): Promise<UnaryResponse<I, O>> {
      const call = callOf(method);
      if (!call) return callElsewhere(elsewhere, method, signal, timeoutMs, headers, input, contextValues);
      const header = new Headers(headers);
      const values = contextValues ?? createContextValues();
      identifyCall(values, caller, header.get(REQUEST_ID_HEADER) ?? uuidv7());
      const message = isMessage(input, method.input) ? input : create(method.input, input);
      const request = {
        stream: false,
        service: method.parent,
        method,
        message,
        header,
        contextValues: values,
      };
      return underDeadline(timeoutMs, signal, (bounded) =>
        call({
          ...request,
          requestMethod: 'POST',
          url: method.localName,
          signal: bounded,
        } as UnaryRequest),
      ) as Promise<UnaryResponse<I, O>>;
    },
    stream() {
      throw new ConnectError('streams are served on the port only', Code.Unimplemented);
    },
  };
}

function composeCall(
  method: DescMethodUnary,
  implementation: Implementation,
  interceptors: readonly Interceptor[],
): UnaryFn {
  const invoke = async (request: UnaryRequest): Promise<UnaryResponse> => {
    const response = new LazyMetadata();
    const answer = await implementation(request.message, handlerContext(request, response));
    const message = asMessage(method.output, answer as MessageInitShape<DescMessage>);
    return {
      ...{ stream: false, service: request.service, method, message },
      get header() {
        return response.header;
      },
      get trailer() {
        return response.trailer;
      },
    };
  };
  return interceptors.reduceRight<UnaryFn>(
    (next, interceptor) => interceptor(next as never) as UnaryFn,
    invoke,
  );
}

function callElsewhere<I extends DescMessage, O extends DescMessage>(
  transport: Transport | undefined,
  ...call: Parameters<Transport['unary']>
): Promise<UnaryResponse<I, O>> {
  if (!transport) {
    const [method] = call;
    throw new ConnectError(`${method.parent.typeName} is not served by this process`, Code.Unimplemented);
  }
  return transport.unary(...call) as Promise<UnaryResponse<I, O>>;
}

function asMessage(schema: DescMessage, answer: MessageInitShape<DescMessage>): MessageShape<DescMessage> {
  return isMessage(answer, schema) ? answer : create(schema, answer);
}

/** A response's headers and trailers, made when somebody asks for them: few calls have any. */
class LazyMetadata {
  #header: Headers | undefined;
  #trailer: Headers | undefined;

  get header(): Headers {
    this.#header ??= new Headers();
    return this.#header;
  }

  get trailer(): Headers {
    this.#trailer ??= new Headers();
    return this.#trailer;
  }
}

function handlerContext(request: UnaryRequest, response: LazyMetadata): HandlerContext {
  return {
    service: request.service,
    method: request.method,
    signal: request.signal,
    timeoutMs: () => undefined,
    requestMethod: request.requestMethod,
    requestHeader: request.header,
    get responseHeader() {
      return response.header;
    },
    get responseTrailer() {
      return response.trailer;
    },
    protocolName: 'in-process',
    values: request.contextValues,
    url: request.url,
  };
}

/** Runs a call until it ends, its deadline passes or its caller gives up, whichever comes first. */
async function underDeadline<T>(
  timeoutMs: number | undefined,
  callerSignal: AbortSignal | undefined,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (timeoutMs === undefined && callerSignal === undefined) return call(NEVER);
  const controller = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const end = (error: ConnectError) => {
    controller.abort(error);
    reject(error);
  };
  const onAbort = () => end(new ConnectError('the call was canceled', Code.Canceled));
  const onDeadline = () => end(new ConnectError('the deadline has passed', Code.DeadlineExceeded));
  const timer = timeoutMs === undefined ? undefined : setTimeout(onDeadline, timeoutMs);
  callerSignal?.addEventListener('abort', onAbort, { once: true });
  try {
    if (callerSignal?.aborted) onAbort();
    return await Promise.race([call(controller.signal), ended]);
  } finally {
    clearTimeout(timer);
    callerSignal?.removeEventListener('abort', onAbort);
  }
}

const NEVER = new AbortController().signal;
