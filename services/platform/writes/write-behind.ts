import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { jsonRows } from '../database/json-rows.ts';
import { executeNamed } from '../database/named-sql.ts';

const BATCH_MS = 100;

/**
 * Batches writes that may be lost, such as last-used timestamps, into one statement. Requests never wait for them.
 * Failures are logged.
 */
export class WriteBehind {
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #statement: string;
  readonly #failure: string;
  #rows = new Map<string, object>();
  #timer: NodeJS.Timeout | undefined;

  /** @param statement takes the rows as one JSON array, `:rows`. @param failure what the log says when it fails. */
  constructor(database: Database, logger: Logger, statement: string, failure: string) {
    this.#database = database;
    this.#logger = logger;
    this.#statement = statement;
    this.#failure = failure;
  }

  /** Schedules a row to be written; the last row per id wins. */
  add(id: string, row: object): void {
    this.#rows.set(id, row);
    this.#timer ??= setTimeout(() => this.#write(), BATCH_MS).unref();
  }

  async #write(): Promise<void> {
    const rows = jsonRows([...this.#rows.values()]);
    this.#rows = new Map();
    this.#timer = undefined;
    try {
      await this.#database.transaction((em) => executeNamed(em, this.#statement, { rows }));
    } catch (error) {
      this.#logger.warn({ err: error }, this.#failure);
    }
  }
}
