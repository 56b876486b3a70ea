import {
  create,
  type DescMessage,
  type DescMethodUnary,
  isMessage,
  type MessageInitShape,
} from '@bufbuild/protobuf';
import type { HandlerContext, Interceptor, UnaryRequest, UnaryResponse } from '@connectrpc/connect';
import type { ServiceBinding } from './service-binding.ts';
import { type UnaryCall, UnaryCallResponse } from './unary-call.ts';

/** Runs a {@link UnaryCall} through the interceptors and the implementation. */
export type UnaryFn = (request: UnaryRequest) => Promise<UnaryResponse>;
type Implementation = (message: unknown, context: HandlerContext) => unknown;

/** A method of a service with its interceptors, outermost first; undefined when it is not implemented. */
export function composeCall(
  method: DescMethodUnary,
  { implementation: implementations }: ServiceBinding,
  interceptors: readonly Interceptor[],
): UnaryFn | undefined {
  const implementation = (implementations as Partial<Record<string, Implementation>>)[method.localName];
  if (!implementation) return undefined;
  const invoke = async (request: UnaryRequest): Promise<UnaryResponse> => {
    // The interceptors pass on the request they received, which is the call itself.
    const call = request as UnaryCall;
    const answer = (await implementation(call.message, call)) as MessageInitShape<DescMessage>;
    const message = isMessage(answer, method.output) ? answer : create(method.output, answer);
    return new UnaryCallResponse(method, message, () => call.responseHeader);
  };
  return withInterceptors(interceptors, invoke);
}

/** Runs interceptors, outermost first, before a call is made. */
export const withInterceptors = (interceptors: readonly Interceptor[], invoke: UnaryFn): UnaryFn =>
  interceptors.reduceRight<UnaryFn>(
    (next, interceptor) => interceptor(next as Parameters<Interceptor>[0]) as UnaryFn,
    invoke,
  );
