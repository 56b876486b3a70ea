import type { GatewayApp } from '../gateway-app.ts';
import type { Person, View } from './shell/view.ts';

/** The Fastify instance of the dashboard. */
export type DashboardApp = GatewayApp;

declare module 'fastify' {
  interface FastifyRequest {
    /** The signed-in person, once the session has been checked. */
    person: Person | null;
    /** What a merchant's page is rendered from. Set before the handler of such a page runs. */
    view: View | null;
  }
}
