import type { EntityManager } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import { awaitAdvisoryLock } from '../../platform/database/advisory-lock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { PeriodicTask } from '../../platform/process/periodic-tasks.ts';

/** Starts at the oldest event that waits for dispatch: its row and its deliveries go into partitions of its own time. */
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
 * Creates the partitions of events, deliveries and attempts for the next days, and those missing since the oldest event
 * that waits for dispatch. Returns the names of the partitions it created.
 */
async function makePartitions(em: EntityManager): Promise<string[]> {
  await awaitAdvisoryLock(em, 'webhook partitions');
  const made = await em.execute<{ name: string }[]>(MAKE_AHEAD);
  return made.map(({ name }) => name);
}

/** Creates partitions ahead of time. Runs in the services' processes, so that it does not depend on Temporal. */
export const webhookPartitionsAhead: PeriodicTask = {
  name: 'webhook-partitions',
  intervalMs: 60_000,
  async runBatch(em) {
    return { rows: (await makePartitions(em)).length, more: false };
  },
};

/** Creates the partitions that the dispatcher is about to write to. */
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

  /** Creates missing partitions. Returns their names. */
  make(): Promise<string[]> {
    return this.#database.transaction(makePartitions);
  }

  /**
   * Ensures that partitions exist, checking again if the last check is long ago by the wall clock. The dispatcher
   * therefore need not wait for the periodic task after a start, or after the machine has slept. Logs a failure instead
   * of throwing it: the partitions created earlier may suffice.
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
      this.#logger.warn({ err: error }, 'webhook partitions could not be created');
      this.#againAfterMs = AGAIN_AFTER_FAILURE_MS;
    }
    this.#checkedAt = Date.now();
  }
}
