import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, RawServerDefault } from 'fastify';
import type { Logger } from 'pino';
import type { Access } from './auth/access.ts';
import type { ApiCaller } from './auth/api-key-authenticator.ts';
import type { Clients } from './clients.ts';
import type { ProblemCode } from './problems/problem-types.ts';

/** The Fastify instance of one environment; schemas are the source of its handlers' types. */
export type GatewayApp = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  Logger,
  TypeBoxTypeProvider
>;

export interface RouteDependencies {
  readonly clients: Clients;
  readonly access: Access;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The operationId of the route; empty for unknown routes. */
    operation: string;
    /** The authenticated caller. Set before the handler of any route that requires an API key. */
    caller: ApiCaller;
    /** The client's Idempotency-Key, on routes that require one. */
    idempotencyKey: string;
    /** Whether it counts towards the limit of requests that are handled at once. */
    isCounted: boolean;
    /** The code of the error response, if any. */
    problemCode: ProblemCode | '';
  }
}

/** Declares the request fields up front, so that all request objects share one shape. */
export function decorateRequests(app: GatewayApp): void {
  app.decorateRequest('operation', '');
  app.decorateRequest('caller', null as unknown as ApiCaller);
  app.decorateRequest('idempotencyKey', '');
  app.decorateRequest('isCounted', false);
  app.decorateRequest('problemCode', '');
}
