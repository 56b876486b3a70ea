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
    /** Who is signed in, once the session has been looked at. */
    person: Person | null;
    /** What a merchant's page is drawn from. Set before any handler of such a page. */
    view: View | null;
  }
}
