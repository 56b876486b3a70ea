import type { Run, Statement } from '../../platform/database/cross-tenant-database.ts';
import { LOST_AFTER_MS } from '../attempts/attempt-limits.ts';
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

/** Reports attempts in these lanes that are recorded as in flight and whose process has died. */
export async function reportLost(
  run: Run,
  lanes: readonly number[],
  reports: Pick<ReportBuffer, 'unrecordedIds' | 'add'>,
): Promise<void> {
  const lost = await run<LostRow>(FIND_LOST, { lanes, exclude: reports.unrecordedIds });
  for (const { id, number, generation, started_at, deadline_at } of lost) {
    reports.add({
      deliveryId: id,
      number,
      generation,
      owner: undefined,
      workflowId: undefined,
      startedAt: started_at,
      result: { endedAt: deadline_at, failure: 'WORKER_LOST' },
    });
  }
}
