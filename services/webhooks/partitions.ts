import type { EntityManager } from '@mikro-orm/postgresql';
import { awaitAdvisoryLock } from '../platform/advisory-lock.ts';
import type { Database } from '../platform/database.ts';
import type { MaintenanceTask } from '../platform/maintenance.ts';

/** From the oldest event that waits for dispatch: its log and its deliveries lie in the past when it is taken late. */
const MAKE_AHEAD = `
select made as name
  from (values ('live', interval '14 days'), ('test', interval '3 days')) as known (environment, ahead)
 cross join lateral webhooks.ensure_partitions(
   known.environment,
   least(now(), (select uuid_extract_timestamp(id) from platform.outbox_event order by id limit 1)),
   now() + known.ahead) as made`;

const REMADE_AFTER_MS = 60 * 60_000;

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
export const webhookPartitionsAhead: MaintenanceTask = {
  name: 'webhook-partitions',
  async step(em) {
    return { rows: (await makePartitions(em)).length, more: false };
  },
};

/** Partitions as those who are about to write need them. */
export class PartitionsAhead {
  readonly #database: Database;
  #madeAt = 0;
  #making: Promise<unknown> | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Makes what is missing; answers the names of those it made. */
  async make(): Promise<string[]> {
    const made = await this.#database.transaction(makePartitions);
    this.#madeAt = Date.now();
    return made;
  }

  /**
   * Resolves when partitions are there, made anew where the last time is long ago by the clock: after a start, and
   * after a machine that slept, nothing waits for the next round of maintenance.
   */
  async ensure(): Promise<void> {
    if (Math.abs(Date.now() - this.#madeAt) < REMADE_AFTER_MS) return;
    this.#making ??= this.make().finally(() => {
      this.#making = undefined;
    });
    await this.#making;
  }
}
