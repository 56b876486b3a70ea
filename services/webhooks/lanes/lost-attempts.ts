import { LOST_AFTER_MS } from '../../contracts/webhooks/delivery-limits.ts';
import type { Run, Statement } from '../../platform/database/cross-tenant-database.ts';
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
 * Reports of attempts in these lanes whose process never reported their end.
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

export interface LostAttemptsDeps {
  readonly run: Run;
  readonly reports: ReportBuffer;
  /** Called when a retry workflow was added to the outbox. */
  readonly onCommand: () => void;
}

/** Ends the attempts that are recorded as in flight and whose process has died. */
export class LostAttempts {
  readonly #deps: LostAttemptsDeps;
  /** Deliveries whose lost attempt is reported, and not yet recorded or set aside. */
  readonly #reported = new Set<string>();

  constructor(deps: LostAttemptsDeps) {
    this.#deps = deps;
  }

  /** Reports those of these lanes. */
  async report(lanes: readonly number[]): Promise<void> {
    const { run, reports, onCommand } = this.#deps;
    const known = [...reports.setAsideIds, ...this.#reported];
    for (const report of await findLost(run, lanes, known)) {
      const { deliveryId } = report;
      this.#reported.add(deliveryId);
      const onSetAside = () => this.#reported.delete(deliveryId);
      const onRecorded = () => {
        this.#reported.delete(deliveryId);
        onCommand();
      };
      reports.add(report, { onRecorded, onSetAside });
    }
  }
}
