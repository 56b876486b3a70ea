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
  type ContextValues,
  createContextValues,
  createRouterTransport,
  type Interceptor,
  type Transport,
  type UnaryResponse,
} from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import { type Caller, type Header, identifyCall, REQUEST_ID_HEADER } from './call-context.ts';
import { composeCall, type UnaryFn } from './compose-call.ts';
import { callError } from './connect-errors.ts';
import type { ServiceBinding } from './service-binding.ts';
import { type HeadersSource, UnaryCall } from './unary-call.ts';

/**
 * A transport to services of the same process: runs the same interceptors as the port, then the implementation,
 * without serialization (except for streams). The caller's identity is fixed here and never read from headers.
 * Messages pass by reference: neither side may modify one after passing it, and a response may be a plain object with
 * `$typeName`. Services that this process does not run are called over `remote`. Bindings may be added until the
 * first call.
 */
export function createInProcessTransport(
  bindings: readonly ServiceBinding[],
  interceptors: readonly Interceptor[],
  caller: Caller,
  remote?: Transport,
): Transport {
  const calls = new Map<DescMethod, UnaryFn | undefined>();
  const identify: Identify = (values, header) =>
    identifyCall(values, caller, header(REQUEST_ID_HEADER) ?? uuidv7(), header);
  const bindingOf = ({ parent }: DescMethod) => bindings.find(({ service }) => service === parent);
  const callOf = (method: DescMethodUnary): UnaryFn | undefined => {
    if (!calls.has(method)) {
      const binding = bindingOf(method);
      calls.set(method, binding && composeCall(method, binding, interceptors));
    }
    return calls.get(method);
  };
  let streams: Transport | undefined;
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
        throw notServedHere(method);
      }
      const values = contextValues ?? createContextValues();
      identify(values, (name) => headerOf(headers, name));
      const message = isMessage(input, method.input) ? input : create(method.input, input);
      const call = new UnaryCall(method, message, {
        protocolName: 'in-process',
        headers,
        contextValues: values,
      });
      return call.run(() => run(call), timeoutMs, signal) as Promise<UnaryResponse<I, O>>;
    },
    async stream(method, ...call) {
      if (bindingOf(method)) {
        streams ??= streamTransport(bindings, interceptors, identify);
        return streams.stream(method, ...call);
      }
      if (remote) return remote.stream(method, ...call);
      throw notServedHere(method);
    },
  };
}

/** Identifies the caller from the headers of a call, and stores it in the call's values. */
type Identify = (values: ContextValues, header: Header) => void;

/**
 * Connect runs the streams in memory and serializes messages: streams are few, and Connect handles deadlines, cancellation
 * and backpressure.
 */
function streamTransport(
  bindings: readonly ServiceBinding[],
  interceptors: readonly Interceptor[],
  identify: Identify,
): Transport {
  const identified: Interceptor = (next) => (request) => {
    identify(request.contextValues, (name) => request.header.get(name));
    return next(request);
  };
  return createRouterTransport(
    (router) => {
      for (const binding of bindings) binding.register(router);
    },
    { router: { interceptors: [identified, ...interceptors] } },
  );
}

/** UNIMPLEMENTED: neither this process nor a remote one serves the method. */
const notServedHere = ({ parent }: DescMethod) =>
  callError(Code.Unimplemented, 'ROUTE_NOT_FOUND', `${parent.typeName} is not served by this process`);

/** Reads one header, without constructing Headers from a plain object. */
function headerOf(headers: HeadersSource, name: string): string | null | undefined {
  const plain = headers !== undefined && Object.getPrototypeOf(headers) === Object.prototype;
  if (plain) return (headers as Record<string, string>)[name];
  return headers && new Headers(headers).get(name);
}
