import type { Logger } from 'pino';
import type { CrossTenantDatabase, Run } from '../../platform/database/cross-tenant-database.ts';
import { aborted } from '../../platform/errors.ts';
import type { OutboxSignal } from '../../platform/outbox/outbox-signal.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import type { ReportedAttempt } from '../deliveries/delivery.ts';
import { disableSubscription } from '../subscriptions/disable-subscription.ts';
import { SubscriptionEntity } from '../subscriptions/subscription.entity.ts';
import {
  COUNT_RETRIES,
  FIND_LOST,
  type LostRow,
  READ_REPORTED,
  RECORD,
  RECORD_LATE,
  RECORD_SUCCESSES,
  type ReportedRow,
  type RetryCountRow,
  STORE_HEALTH,
} from './record-attempts.sql.ts';
import { type PlannedReport, type PlanSettings, planRecord, type RecordPlan } from './record-plan.ts';
import { healthRows, recordRow, successRow } from './record-rows.ts';
import { lockSubscriptions, unblockDeliveries } from './unblock-deliveries.ts';

/** The state of a delivery after a report of it is recorded. */
export interface RecordedDelivery {
  readonly id: string;
  readonly status: ReportedRow['status'];
  readonly nextAttemptAt: Date | null;
}

interface Dependencies {
  readonly db: CrossTenantDatabase;
  readonly writes: Writes;
  readonly settings: PlanSettings;
  readonly outboxSignal: Pick<OutboxSignal, 'committed'>;
  readonly logger: Logger;
}

const GONE = 410;
const MAX_TRIES = 5;

/** A delivery was canceled or reported by another transaction after the plan was made. */
class DeliveryChanged extends Error {}

/** Records each attempt once, with its consequences for the delivery and the subscription. */
export class AttemptRecorder {
  readonly #deps: Dependencies;

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /**
   * Records reports, at most one per delivery. Answers the state of each known delivery by its id. Most reports are
   * successes, which take one statement; the others are read first, and those that change a subscription lock it.
   */
  async record(
    reports: readonly ReportedAttempt[],
    requestId: string,
  ): Promise<Map<string, RecordedDelivery>> {
    const recorded = await this.#recordSuccesses(reports);
    const others = reports.filter(({ deliveryId }) => !recorded.has(deliveryId));
    if (others.length === 0) return recorded;
    const { run } = this.#deps.db;
    let plan = await this.#plan(run, others);
    if (await this.#disableGone(plan, requestId)) plan = await this.#plan(run, others);
    for (let tries = 1; plan.reports.length > 0; tries += 1) {
      for (const delivery of await this.#storeAll(plan)) recorded.set(delivery.id, delivery);
      const left = plan.reports
        .map(({ report }) => report)
        .filter(({ deliveryId }) => !recorded.has(deliveryId));
      if (left.length === 0) break;
      if (tries === MAX_TRIES)
        throw aborted('ATTEMPT_REPORT_RACE', 'the deliveries keep changing; try again');
      plan = await this.#plan(run, left);
    }
    return recorded;
  }

  /** Closes attempts whose worker never reported their end, of these deliveries or of all. @returns how many. */
  async closeLost(deliveryIds: readonly string[] | null, requestId: string): Promise<number> {
    const lost = await this.#deps.db.run<LostRow>(FIND_LOST, { deliveryIds });
    if (lost.length === 0) return 0;
    const reports = lost.map(({ id, number, generation, started_at, deadline_at }) => ({
      deliveryId: id,
      number,
      generation,
      startedAt: started_at,
      outcome: { result: { endedAt: deadline_at, failure: 'WORKER_LOST' as const } },
    }));
    await this.record(reports, requestId);
    return lost.length;
  }

  async #recordSuccesses(reports: readonly ReportedAttempt[]): Promise<Map<string, RecordedDelivery>> {
    const rows = reports.flatMap(successRow);
    if (rows.length === 0) return new Map();
    const ids = rows.map(({ delivery_id }) => delivery_id);
    const ended = await this.#deps.db.run<WrittenRow>(RECORD_SUCCESSES, { rows: JSON.stringify(rows), ids });
    return new Map(
      ended.map(({ delivery_id: id }) => [id, { id, status: 'SUCCEEDED', nextAttemptAt: null }]),
    );
  }

  /** @param retrying the number of RETRYING deliveries by subscription; known once the subscriptions are locked. */
  async #plan(
    run: Run,
    reports: readonly ReportedAttempt[],
    retrying: ReadonlyMap<string, number> = new Map(),
  ): Promise<RecordPlan> {
    const ids = reports.map(({ deliveryId }) => deliveryId);
    const numbers = reports.map(({ number }) => number);
    const rows = await run<ReportedRow>(READ_REPORTED, { ids, numbers });
    return planRecord(new Map(rows.map((row) => [row.id, row])), reports, retrying, this.#deps.settings);
  }

  async #countRetries(run: Run, reports: readonly PlannedReport[]): Promise<Map<string, number>> {
    const subscriptionIds = [...new Set(reports.map(({ row }) => row.subscription_id))];
    const counts = await run<RetryCountRow>(COUNT_RETRIES, { subscriptionIds });
    return new Map(counts.map(({ subscription_id, retrying }) => [subscription_id, retrying]));
  }

  /** A 410 disables the subscription before it is recorded, so that no crash in between leaves it enabled. */
  async #disableGone({ reports }: RecordPlan, requestId: string): Promise<boolean> {
    const gone = reports.filter(
      ({ row, change, report: { outcome, generation } }) =>
        change && 'result' in outcome && outcome.result.httpStatus === GONE && generation === row.generation,
    );
    for (const { row, report } of gone) {
      const tenant = { merchantId: row.merchant_id, environment: row.environment };
      await this.#deps.writes.transaction(tenant, requestId, async (tx) => {
        const subscription = await tx.lockOne(SubscriptionEntity, { id: row.subscription_id });
        if (subscription?.generation !== report.generation) return;
        await disableSubscription(tx, subscription, new Date(), {
          cause: 'GONE',
          httpStatus: GONE,
          deliveryId: row.id,
          eventId: row.event_id,
        });
      });
    }
    return gone.length > 0;
  }

  /** Writes reports that need no lock first. Answers those written, and those already known. */
  async #storeAll({ reports, locked }: RecordPlan): Promise<RecordedDelivery[]> {
    const isLocked = ({ row }: PlannedReport) => locked.has(row.subscription_id);
    const stored = await this.#store(
      this.#deps.db.run,
      reports.filter((report) => !isLocked(report)),
    );
    const locking = reports.filter(isLocked);
    if (locking.length === 0) return stored;
    try {
      stored.push(...(await this.#deps.db.transaction((run) => this.#storeLocked(run, locking))));
      if (locking.some(endsOrdered)) this.#deps.outboxSignal.committed('EVENTS');
      return stored;
    } catch (error) {
      if (error instanceof DeliveryChanged) return stored;
      throw error;
    }
  }

  /** Plans again while the subscriptions are locked. */
  async #storeLocked(run: Run, found: readonly PlannedReport[]): Promise<RecordedDelivery[]> {
    await lockSubscriptions(
      run,
      found.map(({ row }) => row),
    );
    const plan = await this.#plan(
      run,
      found.map(({ report }) => report),
      await this.#countRetries(run, found),
    );
    const stored = await this.#store(run, plan.reports);
    if (stored.length < plan.reports.length) throw new DeliveryChanged();
    if (plan.healths.size > 0) await run(STORE_HEALTH, { rows: JSON.stringify(healthRows(plan)) });
    await unblockDeliveries(
      run,
      plan.reports.filter(endsOrdered).map(({ row }) => row),
    );
    return stored;
  }

  /** Answers those written, and those already known; the others have changed since they were read. */
  async #store(run: Run, reports: readonly PlannedReport[]): Promise<RecordedDelivery[]> {
    const open = reports.filter((report) => !isLate(report)).flatMap(recordRow);
    const openIds = open.map(({ delivery_id }) => delivery_id);
    const late = reports.filter(isLate).flatMap(recordRow);
    const written = [
      ...(open.length > 0 ? await run<WrittenRow>(RECORD, { rows: JSON.stringify(open), ids: openIds }) : []),
      ...(late.length > 0 ? await run<WrittenRow>(RECORD_LATE, { rows: JSON.stringify(late) }) : []),
    ];
    const ids = new Set(written.map(({ delivery_id }) => delivery_id));
    this.#logStale(reports);
    return reports
      .filter(({ row, change }) => !change || ids.has(row.id))
      .map(({ row, change }) => ({
        id: row.id,
        status: change?.status ?? row.status,
        nextAttemptAt: change ? change.nextAttemptAt : row.next_attempt_at,
      }));
  }

  #logStale(reports: readonly PlannedReport[]): void {
    for (const { report, row, change } of reports) {
      if (!change || report.generation === row.generation) continue;
      const { deliveryId, number } = report;
      this.#deps.logger.info(
        { deliveryId, number },
        'ignored for the subscription: the attempt precedes its disabling',
      );
    }
  }
}

interface WrittenRow {
  readonly delivery_id: string;
}

const isLate = ({ row }: PlannedReport) => row.ended_at !== null;
const endsOrdered = ({ row, change }: PlannedReport) => row.ordered && !row.ended_at && change?.endedAt;
