import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, RawServerDefault } from 'fastify';
import type { Logger } from 'pino';
import type { Person, View } from './shell/view.ts';

/** The Fastify instance of the dashboard. */
export type DashboardApp = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  Logger,
  TypeBoxTypeProvider
>;

declare module 'fastify' {
  interface FastifyRequest {
    /** The signed-in person, once the session has been checked. */
    person: Person | null;
    /** What a merchant's page is rendered from. Set before the handler of such a page runs. */
    view: View | null;
  }
}
