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

/** What routes are made from. */
export interface RouteDependencies {
  readonly clients: Clients;
  readonly access: Access;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Name of the operation that the route serves; empty where there is none. */
    operation: string;
    /** Who asks. Set before any handler of a route that takes a key. */
    caller: ApiCaller;
    /** The client's Idempotency-Key, on routes that take one. */
    idempotencyKey: string;
    /** The error that was answered, if any. */
    problemCode: ProblemCode | '';
  }
}

/** Gives every request its own fields at once, so that all requests have one shape. */
export function decorateRequests(app: GatewayApp): void {
  app.decorateRequest('operation', '');
  app.decorateRequest('caller', null as unknown as ApiCaller);
  app.decorateRequest('idempotencyKey', '');
  app.decorateRequest('problemCode', '');
}
