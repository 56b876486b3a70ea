import type { Transport } from '@connectrpc/connect';
import type { Logger } from 'pino';
import type { Database, EntityDefinition } from './database/database.ts';
import type { OutboxSignal } from './outbox/outbox.ts';
import type { WorkSignal } from './outbox/work-signal.ts';
import type { Config } from './process/config.ts';
import type { Pagination } from './reads/pagination.ts';
import type { ServiceBinding } from './rpc/service-binding.ts';
import type { Writes } from './writes/writes.ts';

/** What an area builds its services from. */
export interface AreaDependencies {
  readonly config: Config;
  readonly database: Database;
  readonly writes: Writes;
  readonly pagination: Pagination;
  readonly outboxSignal: OutboxSignal;
  readonly workSignal: WorkSignal;
  readonly logger: Logger;
  /** To the other areas, wherever they run; the area is the caller. Never used inside a transaction. */
  readonly transport: Transport;
}

/** One area of the system: its tables and its services. */
export interface Area {
  readonly name: string;
  readonly entities: readonly EntityDefinition[];
  /** What the area may do in other areas. */
  readonly grants: readonly string[];
  bind(dependencies: AreaDependencies): ServiceBinding[];
}
