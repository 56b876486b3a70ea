import type { EntityManager } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import { awaitAdvisoryLock } from '../../platform/database/advisory-lock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { PeriodicTask } from '../../platform/process/periodic-tasks.ts';

/** From the oldest event that waits for dispatch: its log and its deliveries lie in the past when it is taken late. */
const MAKE_AHEAD = `
select made as name
  from (values ('live', interval '14 days'), ('test', interval '3 days')) as known (environment, ahead)
 cross join lateral webhooks.ensure_partitions(
   known.environment,
   least(now(), (select uuid_extract_timestamp(id) from platform.outbox_event order by id limit 1)),
   now() + known.ahead) as made`;

const AGAIN_AFTER_MS = 60 * 60_000;
const AGAIN_AFTER_FAILURE_MS = 5_000;

/**
 * Makes the partitions of events, deliveries and attempts that the next days need, and those that are missing since
 * the oldest event that waits for dispatch; answers the names of those it made.
 */
async function makePartitions(em: EntityManager): Promise<string[]> {
  await awaitAdvisoryLock(em, 'webhook partitions');
  const made = await em.execute<{ name: string }[]>(MAKE_AHEAD);
  return made.map(({ name }) => name);
}

/** Keeps partitions ahead of what is written, whether or not Temporal is there. */
export const webhookPartitionsAhead: PeriodicTask = {
  name: 'webhook-partitions',
  intervalMs: 60_000,
  async runBatch(em) {
    return { rows: (await makePartitions(em)).length, more: false };
  },
};

/** Partitions as those who are about to write need them. */
export class PartitionsAhead {
  readonly #database: Database;
  readonly #logger: Logger;
  #checkedAt = 0;
  #againAfterMs = 0;
  #checking: Promise<void> | undefined;

  constructor(database: Database, logger: Logger) {
    this.#database = database;
    this.#logger = logger;
  }

  /** Makes what is missing; answers the names of those it made. */
  make(): Promise<string[]> {
    return this.#database.transaction(makePartitions);
  }

  /**
   * Resolves when partitions are there, looked for anew where the last time is long ago by the clock: after a start,
   * and after a machine that slept, nothing waits for the next run of the periodic task. A failure is logged: partitions
   * made long before may do.
   */
  async ensure(): Promise<void> {
    if (Math.abs(Date.now() - this.#checkedAt) < this.#againAfterMs) return;
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    await this.#checking;
  }

  async #check(): Promise<void> {
    try {
      await this.make();
      this.#againAfterMs = AGAIN_AFTER_MS;
    } catch (error) {
      this.#logger.warn({ err: error }, 'partitions of webhooks could not be made ahead');
      this.#againAfterMs = AGAIN_AFTER_FAILURE_MS;
    }
    this.#checkedAt = Date.now();
  }
}
