import type { CallOptions } from '@connectrpc/connect';
import { PING_TYPE } from '../../../problems/ping-type.ts';
import type { DashboardClients } from '../../dashboard-clients.ts';

const CACHE_MS = 10 * 60_000;

/** The names of all event types that can be delivered, cached because live pages are rendered every second. */
export class EventTypeNames {
  readonly #clients: DashboardClients;
  #cached: { readonly names: readonly string[]; readonly expiresAt: number } | undefined;

  constructor(clients: DashboardClients) {
    this.#clients = clients;
  }

  async all(call: CallOptions): Promise<readonly string[]> {
    if (this.#cached && performance.now() < this.#cached.expiresAt) return this.#cached.names;
    const { eventTypes } = await this.#clients.events.listEventTypes({}, call);
    const names = [...eventTypes.map(({ name }) => name), PING_TYPE].sort();
    this.#cached = { names, expiresAt: performance.now() + CACHE_MS };
    return names;
  }
}
