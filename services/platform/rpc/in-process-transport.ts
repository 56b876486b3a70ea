import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  isMessage,
  type MessageInitShape,
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
import { type Caller, identifyActor, identifyCall, REQUEST_ID_HEADER } from './call-context.ts';
import { type HeadersSource, InProcessCall, InProcessResponse } from './in-process-call.ts';
import type { ServiceBinding } from './service-binding.ts';

type UnaryFn = (request: UnaryRequest) => Promise<UnaryResponse>;
type Implementation = (message: unknown, context: HandlerContext) => unknown;

/**
 * A transport to services of the same process: runs the same interceptors as the port, then the implementation, without
 * serialisation. The caller's identity is fixed here and never read from headers. Messages pass by reference: neither side
 * may modify one after passing it, and a response may be a plain object with `$typeName`. Services that this process does
 * not run are called over `remote`. Bindings may be added until the first call.
 */
export function createInProcessTransport(
  bindings: readonly ServiceBinding[],
  interceptors: readonly Interceptor[],
  caller: Caller,
  remote?: Transport,
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
      headers: HeadersSource,
      input: MessageInitShape<I>,
      contextValues?: ContextValues,
    ): Promise<UnaryResponse<I, O>> {
      const run = callOf(method);
      if (!run) {
        if (remote) return remote.unary(method, signal, timeoutMs, headers, input, contextValues);
        throw new ConnectError(`${method.parent.typeName} is not served by this process`, Code.Unimplemented);
      }
      const values = contextValues ?? createContextValues();
      identifyCall(values, caller, headerOf(headers, REQUEST_ID_HEADER) ?? uuidv7());
      identifyActor(values, (name) => headerOf(headers, name));
      const message = isMessage(input, method.input) ? input : create(method.input, input);
      const call = new InProcessCall(method, message, headers, values);
      return call.run(() => run(call), timeoutMs, signal) as Promise<UnaryResponse<I, O>>;
    },
    stream() {
      throw new ConnectError('streams are served on the port only', Code.Unimplemented);
    },
  };
}

/** Reads one header, without constructing Headers from a plain object. */
function headerOf(headers: HeadersSource, name: string): string | null | undefined {
  const plain = headers !== undefined && Object.getPrototypeOf(headers) === Object.prototype;
  if (plain) return (headers as Record<string, string>)[name];
  return headers && new Headers(headers).get(name);
}

function composeCall(
  method: DescMethodUnary,
  implementation: Implementation,
  interceptors: readonly Interceptor[],
): UnaryFn {
  const invoke = async (request: UnaryRequest): Promise<UnaryResponse> => {
    // The interceptors pass on the request they received, which is the call itself.
    const call = request as InProcessCall;
    const answer = (await implementation(call.message, call)) as MessageInitShape<DescMessage>;
    return new InProcessResponse(
      call,
      isMessage(answer, method.output) ? answer : create(method.output, answer),
    );
  };
  return interceptors.reduceRight<UnaryFn>(
    (next, interceptor) => interceptor(next as Parameters<Interceptor>[0]) as UnaryFn,
    invoke,
  );
}
