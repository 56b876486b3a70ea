import type { Transport } from '@connectrpc/connect';
import type { Logger } from 'pino';
import type { Database, EntityDefinition } from './database/database.ts';
import type { OutboxSignal } from './outbox/outbox-signal.ts';
import type { ServicesConfig } from './process/config.ts';
import type { Exports } from './reads/exports.ts';
import type { Pagination } from './reads/pagination.ts';
import type { ServiceBinding } from './rpc/service-binding.ts';
import type { Writes } from './writes/writes.ts';

export interface AreaDependencies {
  readonly config: ServicesConfig;
  readonly database: Database;
  readonly writes: Writes;
  readonly pagination: Pagination;
  readonly exports: Exports;
  readonly outboxSignal: OutboxSignal;
  readonly logger: Logger;
  /** Calls the other areas, wherever they run, with this area as the caller. Never use it inside a transaction. */
  readonly transport: Transport;
  /** Aborted when the services begin to close: streams end then. */
  readonly stopping: AbortSignal;
}

/** One area of the system: its tables and its services. */
export interface Area {
  readonly name: string;
  readonly entities: readonly EntityDefinition[];
  /** The grants that the area holds in other areas. */
  readonly grants: readonly string[];
  bind(dependencies: AreaDependencies): ServiceBinding[];
}
