import { afterAll } from 'vitest';
import { CrossTenantDatabase } from '../../../../services/platform/database/cross-tenant-database.ts';
import { OutboxSignal } from '../../../../services/platform/outbox/outbox-signal.ts';
import { PersonCheck } from '../../../../services/platform/people/person-check.ts';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import { Writes } from '../../../../services/platform/writes/writes.ts';
import { AttemptRecorder } from '../../../../services/webhooks/attempts/attempt-recorder.ts';
import type {
  AttemptResult,
  DeliveryStatusName,
  ReportedAttempt,
} from '../../../../services/webhooks/deliveries/delivery.ts';
import { Unblocker } from '../../../../services/webhooks/deliveries/ordered-deliveries.ts';
import { EndpointStatistics } from '../../../../services/webhooks/health/endpoint-statistics.ts';
import { reportLost } from '../../../../services/webhooks/lanes/lost-attempts.ts';
import { webhooks } from '../../../../services/webhooks/webhooks.area.ts';
import { startHarness, type TestHarness } from '../../../support/harness.ts';
import { openDatabase } from '../../../support/open-database.ts';
import { sqlOf } from '../../../support/sql.ts';
import { webhooksFixture } from '../webhooks-fixture.ts';

/** An attempt that may be made now. */
export interface DueAttempt {
  readonly deliveryId: string;
  readonly subscriptionId: string;
  readonly eventId: string;
  readonly number: number;
  readonly generation: bigint;
  readonly lane: number;
  readonly epoch: bigint;
}

interface DueRow {
  readonly id: string;
  readonly subscription_id: string;
  readonly event_id: string;
  readonly attempt_count: number;
  readonly generation: string;
  readonly lane: number;
  readonly epoch: string;
}

/** New events before resent ones, the oldest first, as the owner of a lane sends them. */
const FIND_DUE = `
select d.id, d.subscription_id, d.event_id, d.attempt_count, s.generation, l.id as lane, l.epoch
  from webhooks.open_delivery d
  join webhooks.subscription s on s.id = d.subscription_id
  join webhooks.lane l on l.id = d.lane
 where (d.status = 'PENDING' or d.requested) and s.state <> 'DISABLED' and s.paused_at is null
   and d.merchant_id = coalesce($1, d.merchant_id)
 order by d.resend_id is not null, d.id`;

/** A delivery after its report is recorded. */
interface RecordedDelivery {
  readonly id: string;
  readonly status: DeliveryStatusName;
  /** Null if it has ended. */
  readonly nextAttemptAt: Date | null;
}

const RECORDED = `
select id, status, next_attempt_at as "nextAttemptAt" from webhooks.delivery where id = any ($1::uuid[])`;

export const ALL_LANES = Array.from({ length: 64 }, (_, lane) => lane);

/** The report of an attempt that was answered with this status. */
export const answered = (attempt: DueAttempt, httpStatus: number, result: Partial<AttemptResult> = {}) =>
  reportOf(attempt, { endedAt: new Date(), latencyMs: 12, httpStatus, responseExcerpt: 'ok', ...result });

/** The report of an attempt that has not ended. */
export const inFlight = (attempt: DueAttempt, startedAt = new Date()): ReportedAttempt => ({
  ...reportOf(attempt, { endedAt: startedAt }),
  result: undefined,
});

/** The report of an attempt that ended with a result. */
export function reportOf(
  { deliveryId, number, generation, lane, epoch }: DueAttempt,
  result: AttemptResult,
): ReportedAttempt {
  return {
    deliveryId,
    number,
    generation,
    owner: { lane, epoch },
    workflowId: 'deliveries-of-the-test',
    startedAt: result.endedAt,
    result,
  };
}

/** The connections for the writes of the recorder. */
export const POOL_SIZE = 8;

/**
 * Records attempts like the owner of the lanes, without making them: for tests of the consequences of results, in
 * services that do not deliver.
 */
export async function startAttempts(harness: Pick<TestHarness, 'config' | 'databaseUrl'>) {
  const { config, databaseUrl } = harness;
  const database = await openDatabase(databaseUrl, { poolSize: POOL_SIZE, entities: [...webhooks.entities] });
  const logger = createLogger('fatal');
  const outboxSignal = new OutboxSignal(database, logger);
  const writes = new Writes(
    database,
    outboxSignal,
    new PersonCheck(database, config.DASHBOARD_SESSION_IDLE),
    logger,
  );
  const db = new CrossTenantDatabase(database);
  const statistics = new EndpointStatistics(db.run, logger);
  const unblocker = new Unblocker(db.run, logger);
  const recorder = new AttemptRecorder({ db, config, writes, outboxSignal, logger, statistics, unblocker });

  /** The attempts that may be made now, of one merchant or of all. */
  async function due(merchantId: string | null = null): Promise<DueAttempt[]> {
    const rows = await sqlOf<DueRow>(harness, FIND_DUE, [merchantId]);
    return rows.map((row) => ({
      deliveryId: row.id,
      subscriptionId: row.subscription_id,
      eventId: row.event_id,
      number: row.attempt_count + 1,
      generation: BigInt(row.generation),
      lane: row.lane,
      epoch: BigInt(row.epoch),
    }));
  }

  /** Records reports; returns the deliveries after that, in their order, without those that were refused. */
  async function record(...reports: readonly ReportedAttempt[]): Promise<RecordedDelivery[]> {
    const { recorded, locked } = await recorder.record(reports);
    await statistics.flush();
    const again = reports.filter(({ deliveryId }) => locked.has(deliveryId));
    const rows = await sqlOf<RecordedDelivery>(harness, RECORDED, [[...recorded]]);
    const others = reports.flatMap(({ deliveryId }) => rows.filter(({ id }) => id === deliveryId));
    return again.length === 0 ? others : [...others, ...(await record(...again))];
  }

  return {
    recorder,
    /** Those that the recorder makes. */
    writes,
    due,
    record,
    /** Closes attempts in flight whose process has died, as the owner of all lanes. */
    async closeLost(): Promise<void> {
      const lost: ReportedAttempt[] = [];
      await reportLost(db.run, ALL_LANES, { unrecordedIds: [], add: (report) => void lost.push(report) });
      await recorder.record(lost);
    },
    /** Records this status for all deliveries that may be sent now; returns them in the order of sending. */
    async answerAll(httpStatus = 200, merchantId?: string): Promise<DueAttempt[]> {
      const attempts = await due(merchantId);
      if (attempts.length > 0) await record(...attempts.map((attempt) => answered(attempt, httpStatus)));
      return attempts;
    },
    close: () => database.close(),
  };
}

export type Attempts = Awaited<ReturnType<typeof startAttempts>>;

/** Services that make no attempts, for all tests of a file: the tests report them. */
export async function startWebhooks(settings: Record<string, string> = { SERVICES: 'webhooks' }) {
  const harness = await startHarness(settings);
  const attempts = await startAttempts(harness);
  afterAll(async () => {
    await attempts.close();
    await harness.close();
  });
  return { harness, attempts, fixture: webhooksFixture(harness, harness.transports.inProcess) };
}
