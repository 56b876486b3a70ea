import type { Logger } from 'pino';
import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';

/**
 * What is read from its start with every look, and emptied from there: rows that are gone are walked over until they
 * are vacuumed, and autovacuum looks once a minute. It waits for nobody and nobody waits for it.
 */
const VACUUM: Statement = {
  name: 'vacuum_queues',
  text: `vacuum (skip_locked, index_cleanup on, truncate off)
    platform.outbox_event, platform.outbox_command, webhooks.open_delivery`,
};

const AFTER_DELIVERIES = 5_000;

/** Keeps the tables that dispatch works on as small as what is in them. */
export class QueueUpkeep {
  readonly #db: CrossTenantDatabase;
  readonly #logger: Logger;
  readonly #after: number;
  #handled = 0;

  /** @param after how many deliveries leave the tables as they are. */
  constructor(db: CrossTenantDatabase, logger: Logger, after: number = AFTER_DELIVERIES) {
    this.#db = db;
    this.#logger = logger;
    this.#after = after;
  }

  /** To be told of deliveries that were claimed; now and then it cleans up behind them, in the background. */
  handled(deliveries: number): void {
    this.#handled += deliveries;
    if (this.#handled < this.#after) return;
    this.#handled = 0;
    this.#db
      .run(VACUUM, [])
      .catch((error: unknown) => this.#logger.warn({ err: error }, 'the queues were not vacuumed'));
  }
}
