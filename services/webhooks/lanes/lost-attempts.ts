import type { Run, Statement } from '../../platform/database/cross-tenant-database.ts';
import { LOST_AFTER_MS } from '../attempts/attempt-limits.ts';
import type { ReportedAttempt } from '../deliveries/delivery.ts';
import { DELIVERY_BY_ID } from '../deliveries/delivery-by-id.sql.ts';
import type { ReportBuffer } from './report-buffer.ts';

interface LostRow {
  readonly id: string;
  readonly number: number;
  readonly generation: bigint;
  readonly started_at: Date;
  readonly deadline_at: Date;
}

export const FIND_LOST: Statement = {
  name: 'find_lost',
  text: `
select input.id, input.number, input.generation, input.started_at, input.deadline_at
  from (select delivery_id as id, number, generation, started_at, deadline_at from webhooks.attempt
         where ended_at is null and deadline_at < now() - interval '${LOST_AFTER_MS} ms'
           and delivery_id <> all (:exclude::uuid[])
         order by deadline_at) input${DELIVERY_BY_ID}
 where d.lane = any (:lanes::smallint[])
 limit 100`,
};

/**
 * Reports of attempts in these lanes that are recorded as in flight and whose process has died.
 * @param exclude deliveries whose report is known.
 */
export async function findLost(
  run: Run,
  lanes: readonly number[],
  exclude: readonly string[],
): Promise<ReportedAttempt[]> {
  const lost = await run<LostRow>(FIND_LOST, { lanes, exclude });
  return lost.map(({ id, number, generation, started_at, deadline_at }) => ({
    deliveryId: id,
    number,
    generation,
    owner: undefined,
    workflowId: undefined,
    startedAt: started_at,
    outcome: { result: { endedAt: deadline_at, failure: 'WORKER_LOST' as const } },
  }));
}

/** Reports them, except those whose report the buffer already has. */
export async function reportLost(run: Run, lanes: readonly number[], reports: ReportBuffer): Promise<void> {
  for (const report of await findLost(run, lanes, reports.unrecordedIds)) reports.add(report);
}
