import type { RequestListener } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { type ContextValues, createContextValues, type Interceptor } from '@connectrpc/connect';
import { fastifyConnectPlugin } from '@connectrpc/connect-fastify';
import { type FastifyInstance, type FastifyRequest, fastify } from 'fastify';
import { storePeer } from './peer-certificate.ts';
import { createPortListener } from './port-listener.ts';
import type { PortTls } from './secure-server.ts';
import type { ServiceBinding } from './service-binding.ts';
import { type CallerSources, identifyCallers } from './service-tokens.ts';
import { UnaryPort } from './unary-port.ts';

const LIMITS = {
  readMaxBytes: 1024 * 1024,
  /** Within one network, compressing small responses costs more than it saves. */
  compressMinBytes: 32 * 1024,
  maxTimeoutMs: 60_000,
};
/** Longer than the deadline of calls for the public API. */
const SHUTDOWN_MS = 12_000;

export interface RpcServerOptions extends CallerSources {
  readonly bindings: readonly ServiceBinding[];
  readonly interceptors: Interceptor[];
  /** With which the port requires mutual TLS. Default: no TLS. */
  readonly tls?: PortTls | undefined;
}

/** The internal port: gRPC (HTTP/2), gRPC-Web and Connect (also over HTTP/1.1), with mutual TLS or without TLS. */
export function createRpcServer(options: RpcServerOptions): FastifyInstance {
  const { bindings, interceptors, tls } = options;
  const identify = identifyCallers(options);
  const unaryPort = new UnaryPort({ bindings, interceptors, identify, ...LIMITS });
  const server = fastify({
    serverFactory: (listener) =>
      createPortListener({
        listener: listener as RequestListener,
        unaryPort,
        tls,
        shutdownMs: SHUTDOWN_MS,
      }) as never,
    logger: false,
  });
  void server.register(fastifyConnectPlugin, {
    routes: (router) => {
      for (const binding of bindings) binding.register(router);
    },
    interceptors,
    ...(tls && { contextValues: peerValues }),
    // Before the request body is read.
    requestGate: ({ method, requestHeader, values }) =>
      identify(method, (name) => requestHeader.get(name), values),
    ...LIMITS,
    shutdownTimeoutMs: SHUTDOWN_MS,
  });
  return server;
}

/** The values of a call, with the certificate of its client. */
function peerValues({ raw }: FastifyRequest): ContextValues {
  const values = createContextValues();
  storePeer(values, 'stream' in raw ? (raw as unknown as Http2ServerRequest).stream.session : raw.socket);
  return values;
}
