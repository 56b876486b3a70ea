import type { AttemptResult } from '../../../../services/webhooks/deliveries/delivery.ts';
import type { TestHarness } from '../../../support/harness.ts';
import { sqlOf } from '../../../support/sql.ts';
import { startAttempts } from './attempts-fixture.ts';

/** How an attempt ended, unless it is in flight. */
export interface AttemptOutcome
  extends Pick<
    AttemptResult,
    | 'httpStatus'
    | 'failure'
    | 'latencyMs'
    | 'responseExcerpt'
    | 'detail'
    | 'signature'
    | 'timingMs'
    | 'responseHeaders'
  > {
  readonly isInFlight?: boolean;
}

export interface AttemptRecords {
  /** Records the next attempt of each delivery. */
  record(deliveryIds: readonly string[], outcome: AttemptOutcome): Promise<void>;
  /** Records the next attempt of each PENDING delivery of a merchant; returns their ids, oldest first. */
  recordPending(merchantId: string, outcome: AttemptOutcome): Promise<string[]>;
  close(): Promise<void>;
}

interface NextAttempt {
  readonly id: string;
  readonly number: number;
  readonly generation: string;
  readonly lane: number;
  readonly epoch: string;
}

const NEXT_ATTEMPTS = `
select d.id, d.attempt_count + 1 as number, s.generation, d.lane, l.epoch
  from webhooks.open_delivery d
  join webhooks.subscription s on s.id = d.subscription_id
  join webhooks.lane l on l.id = d.lane`;

/**
 * Records attempts like the owner of the lanes, with outcomes that a test chooses; nothing is sent. For services that
 * own no lanes themselves.
 */
export async function openAttemptRecords(
  harness: Pick<TestHarness, 'databaseUrl' | 'config'>,
): Promise<AttemptRecords> {
  const attempts = await startAttempts(harness);

  async function record(next: readonly NextAttempt[], outcome: AttemptOutcome) {
    const recorded = await attempts.record(...next.map((attempt) => reportOf(attempt, outcome)));
    if (recorded.length < next.length) throw new Error('not every attempt was recorded');
  }
  return {
    async record(ids, outcome) {
      const condition = 'where d.id = any ($1::uuid[])';
      await record(await sqlOf<NextAttempt>(harness, `${NEXT_ATTEMPTS} ${condition}`, [ids]), outcome);
    },
    async recordPending(merchantId, outcome) {
      const condition = "where d.merchant_id = $1 and d.status = 'PENDING' order by d.id";
      const next = await sqlOf<NextAttempt>(harness, `${NEXT_ATTEMPTS} ${condition}`, [merchantId]);
      await record(next, outcome);
      return next.map(({ id }) => id);
    },
    close: () => attempts.close(),
  };
}

function reportOf({ id, number, generation, lane, epoch }: NextAttempt, outcome: AttemptOutcome) {
  const { isInFlight, failure, httpStatus = 200, latencyMs = 12, responseExcerpt = 'ok', ...sent } = outcome;
  const startedAt = new Date();
  const response = failure === undefined ? { httpStatus, responseExcerpt } : { failure };
  return {
    deliveryId: id,
    number,
    generation: BigInt(generation),
    owner: { lane, epoch: BigInt(epoch) },
    workflowId: 'deliveries-of-a-test',
    startedAt,
    result: isInFlight ? undefined : { endedAt: new Date(), latencyMs, ...sent, ...response },
  };
}
