import type { EntityManager } from '@mikro-orm/postgresql';
import { awaitAdvisoryLock } from '../../platform/database/advisory-lock.ts';
import type { PeriodicTask } from '../../platform/process/periodic-tasks.ts';

/** Days ahead, because no event can be published without its partition. */
const MAKE_AHEAD = `
select made as name
  from (values ('live', interval '14 days'), ('test', interval '7 days')) as known (environment, ahead)
 cross join lateral webhooks.ensure_partitions(known.environment, now(), now() + known.ahead) as made`;

/** Creates the partitions of events, deliveries and attempts for the next days. Returns their names. */
export async function createPartitions(em: EntityManager): Promise<string[]> {
  await awaitAdvisoryLock(em, 'webhook partitions');
  const made = await em.execute<{ name: string }[]>(MAKE_AHEAD);
  return made.map(({ name }) => name);
}

/** Creates partitions ahead of time. Runs in the services' processes, so that it does not depend on Temporal. */
export const webhookPartitionsAhead: PeriodicTask = {
  name: 'webhook-partitions',
  intervalMs: 60_000,
  async runBatch(em) {
    return { rows: (await createPartitions(em)).length, more: false };
  },
};
