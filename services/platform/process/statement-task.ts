import { executeNamed } from '../database/named-sql.ts';
import type { PeriodicTask } from './periodic-tasks.ts';

interface TaskStatement extends Pick<PeriodicTask, 'name' | 'intervalMs'> {
  /** Handles at most `batchRows` rows, and returns their number as `rows`. */
  readonly sql: string;
  readonly batchRows: number;
}

/** A periodic task whose batch is one statement. A full batch is followed by another at once. */
export const statementTask = ({ name, intervalMs, sql, batchRows }: TaskStatement): PeriodicTask => ({
  name,
  intervalMs,
  async runBatch(em) {
    const [handled] = await executeNamed<{ rows: number }>(em, sql);
    const { rows } = handled!;
    return { rows, more: rows === batchRows };
  },
});
