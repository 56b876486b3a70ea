import type { CallOptions } from '@connectrpc/connect';
import type { DashboardClients } from '../../dashboard-clients.ts';

/** Not in the catalogue, since nobody subscribes to it, but delivered. */
export const PING = 'webhook.ping.v1';
const FRESH_MS = 10 * 60_000;

/** The names of all events that may be delivered. Kept for a while: pages that are looked at are drawn every second. */
export class EventTypeNames {
  readonly #clients: Pick<DashboardClients, 'events'>;
  #known: { readonly names: readonly string[]; readonly until: number } | undefined;

  constructor(clients: Pick<DashboardClients, 'events'>) {
    this.#clients = clients;
  }

  async all(call: CallOptions): Promise<readonly string[]> {
    if (this.#known && performance.now() < this.#known.until) return this.#known.names;
    const { eventTypes } = await this.#clients.events.listEventTypes({}, call);
    const names = [...eventTypes.map(({ name }) => name), PING].sort();
    this.#known = { names, until: performance.now() + FRESH_MS };
    return names;
  }
}
