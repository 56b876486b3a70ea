import type { DescMethod } from '@bufbuild/protobuf';
import {
  Code,
  type ContextValues,
  createRouterTransport,
  type Interceptor,
  type Transport,
} from '@connectrpc/connect';
import { callError } from './connect-errors.ts';
import type { ServiceBinding } from './service-binding.ts';

/** Identifies the caller from the headers of a call, and stores it in the call's values. */
export type Identify = (values: ContextValues, header: (name: string) => string | null | undefined) => void;

/**
 * The transport for streams to services of the same process. Connect runs them in memory and serializes messages:
 * streams are few, and Connect handles deadlines, cancellation and backpressure. Bindings may be added until the
 * first stream. Streams of services that this process does not run go over `remote`.
 */
export function inProcessStreams(
  bindings: readonly ServiceBinding[],
  interceptors: readonly Interceptor[],
  identify: Identify,
  remote: Transport | undefined,
): (method: DescMethod) => Pick<Transport, 'stream'> {
  const identified: Interceptor = (next) => (request) => {
    identify(request.contextValues, (name) => request.header.get(name));
    return next(request);
  };
  let local: Transport | undefined;
  return (method) => {
    if (!bindings.some(({ service }) => service === method.parent)) {
      if (remote) return remote;
      throw notServedHere(method);
    }
    local ??= createRouterTransport(
      (router) => {
        for (const binding of bindings) binding.register(router);
      },
      { router: { interceptors: [identified, ...interceptors] } },
    );
    return local;
  };
}

/** UNIMPLEMENTED: neither this process nor a remote one serves the method. */
export const notServedHere = ({ parent }: DescMethod) =>
  callError(Code.Unimplemented, 'ROUTE_NOT_FOUND', `${parent.typeName} is not served by this process`);
