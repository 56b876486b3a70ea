import type { Logger } from 'pino';
import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';

/**
 * Every poll reads these tables from their start, where rows are deleted: it scans dead rows until they are vacuumed, and
 * autovacuum runs once a minute. This vacuum neither waits for locks nor delays others.
 */
const VACUUM: Statement = {
  name: 'vacuum_queues',
  text: `vacuum (skip_locked, index_cleanup on, truncate off)
    platform.outbox_event, platform.outbox_command, webhooks.open_delivery`,
};

const AFTER_DELIVERIES = 5_000;

/** Keeps the tables that dispatch polls free of dead rows. */
export class QueueUpkeep {
  readonly #db: CrossTenantDatabase;
  readonly #logger: Logger;
  readonly #after: number;
  #handled = 0;

  /** @param after vacuum after so many deliveries. */
  constructor(db: CrossTenantDatabase, logger: Logger, after: number = AFTER_DELIVERIES) {
    this.#db = db;
    this.#logger = logger;
    this.#after = after;
  }

  /** Call it with the number of claimed deliveries; from time to time it vacuums in the background. */
  handled(deliveries: number): void {
    this.#handled += deliveries;
    if (this.#handled < this.#after) return;
    this.#handled = 0;
    this.#db
      .run(VACUUM)
      .catch((error: unknown) => this.#logger.warn({ err: error }, 'the queues were not vacuumed'));
  }
}
