import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { jsonRows } from '../database/json-rows.ts';
import { executeNamed } from '../database/named-sql.ts';

const BATCH_MS = 100;

/** Schedules a row to be written; the last row per id wins. */
export type WriteBehind = (id: string, row: object) => void;

/**
 * Batches writes that may be lost, such as last-used timestamps, into one statement. Requests never wait for them.
 * Failures are logged.
 * @param statement takes the rows as one JSON array, `:rows`.
 * @param failure what the log says when it fails.
 */
export function writeBehind(
  database: Database,
  logger: Logger,
  statement: string,
  failure: string,
): WriteBehind {
  const pending = new Map<string, object>();
  const write = async () => {
    const rows = jsonRows([...pending.values()]);
    pending.clear();
    try {
      await database.transaction((em) => executeNamed(em, statement, { rows }));
    } catch (error) {
      logger.warn({ err: error }, failure);
    }
  };
  return (id, row) => {
    if (pending.size === 0) setTimeout(() => void write(), BATCH_MS).unref();
    pending.set(id, row);
  };
}
