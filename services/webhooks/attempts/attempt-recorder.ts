import type { Logger } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import type { AreaDependencies } from '../../platform/area.ts';
import type { CrossTenantDatabase, Run } from '../../platform/database/cross-tenant-database.ts';
import { isLockTimeout } from '../../platform/database/database-errors.ts';
import { jsonRows } from '../../platform/database/json-rows.ts';
import { backgroundContext } from '../../platform/rpc/call-context.ts';
import { tenantOfRow } from '../../platform/tenant.ts';
import { isSuccess, type ReportedAttempt } from '../deliveries/delivery.ts';
import { deliveryLogFields } from '../deliveries/delivery-log-fields.ts';
import type { OrderedObjectRow, Unblocker } from '../deliveries/ordered-deliveries.ts';
import type { EndpointStatistics } from '../health/endpoint-statistics.ts';
import { disableSubscription } from '../subscriptions/disable-subscription.ts';
import { SubscriptionEntity } from '../subscriptions/subscription.entity.ts';
import { lockSubscriptions } from '../subscriptions/subscription-store.ts';
import { type PlannedReport, planReports, type RecorderConfig, type ReportedRow } from './plan-reports.ts';
import { LOCK_REPORTED, READ_REPORTED, RECORD, RECORD_LATE, recordRow } from './record-attempts.sql.ts';
import { LOCK_TIMEOUT_MS, RECORD_SUCCESSES, type SucceededRow, successRow } from './record-successes.sql.ts';
import { storeHealths } from './store-health.ts';

/** The outcome of recording reports. */
export interface Recording {
  /** The known deliveries, except those whose report is refused because another process owns the lane. */
  readonly recorded: ReadonlySet<string>;
  /** Deliveries to report again, because another transaction has locked them or their subscription. */
  readonly locked: ReadonlySet<string>;
}

interface Dependencies extends Pick<AreaDependencies, 'writes' | 'outboxSignal' | 'logger'> {
  readonly db: CrossTenantDatabase;
  readonly config: RecorderConfig;
  /** Counts what was recorded. */
  readonly statistics: Pick<EndpointStatistics, 'add'>;
  readonly unblocker: Pick<Unblocker, 'unblock'>;
}

const GONE = 410;

/** Records each attempt once, with its consequences for the delivery and the subscription. */
export class AttemptRecorder {
  readonly #deps: Dependencies;

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /**
   * Records reports, at most one per delivery. Most are successes, which take one statement; the others are decided while
   * their subscriptions and deliveries are locked.
   */
  async record(reports: readonly ReportedAttempt[]): Promise<Recording> {
    const succeeded = await this.#recordSuccesses(reports);
    const byId = new Map(reports.map((report) => [report.deliveryId, report]));
    for (const { id, subscription_id } of succeeded) this.#count(subscription_id, byId.get(id)!);
    const recorded = new Set(succeeded.map(({ id }) => id));
    const { decided, locked } = await this.#recordOthers(
      reports.filter(({ deliveryId }) => !recorded.has(deliveryId)),
    );
    logReports(this.#deps.logger, decided);
    for (const { row, change, report } of decided) {
      if (change) this.#count(row.subscription_id, report);
      recorded.add(row.id);
    }
    if (decided.some(({ change }) => change?.status === 'RETRYING'))
      this.#deps.outboxSignal.committed('COMMANDS');
    await this.#unblockNext([
      ...succeeded.filter(({ ordered }) => ordered),
      ...decided.filter(endsOrdered).map(({ row }) => row),
    ]);
    return { recorded, locked };
  }

  /** @returns none if another transaction has locked any delivery: the others are then recorded without waiting for it. */
  async #recordSuccesses(reports: readonly ReportedAttempt[]): Promise<SucceededRow[]> {
    const rows = reports.flatMap(successRow);
    if (rows.length === 0) return [];
    const ids = rows.map(({ deliveryId }) => deliveryId);
    try {
      return await this.#deps.db.run<SucceededRow>(RECORD_SUCCESSES, { rows: jsonRows(rows), ids });
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      return [];
    }
  }

  #count(subscriptionId: string, { generation, result }: ReportedAttempt): void {
    if (result) this.#deps.statistics.add(subscriptionId, generation, result);
  }

  async #recordOthers(reports: readonly ReportedAttempt[]) {
    if (reports.length === 0) return { decided: [], locked: new Set<string>() };
    const lockedByOthers = await this.#disableGone(reports);
    return this.#deps.db.transaction(async (run) => {
      const ids = reports.map(({ deliveryId }) => deliveryId).filter((id) => !lockedByOthers.has(id));
      const skipped = await run<{ readonly id: string }>(LOCK_REPORTED, { ids });
      const locked = new Set([...lockedByOthers, ...skipped.map(({ id }) => id)]);
      const planned = await this.#plan(
        run,
        reports.filter(({ deliveryId }) => !locked.has(deliveryId)),
      );
      const writtenIds = await this.#write(run, planned);
      const decided = planned.filter(({ row, change }) => !change || writtenIds.has(row.id));
      await storeHealths(run, decided);
      return { decided, locked };
    });
  }

  async #plan(run: Run, reports: readonly ReportedAttempt[]): Promise<PlannedReport[]> {
    const ids = reports.map(({ deliveryId }) => deliveryId);
    const numbers = reports.map(({ number }) => number);
    const readAt = new Date();
    const rows = await run<ReportedRow>(READ_REPORTED, { ids, numbers });
    return planReports(rows, reports, readAt, this.#deps.config);
  }

  /** @returns the deliveries that were written; another process has taken the lanes of the others. */
  async #write(run: Run, planned: readonly PlannedReport[]): Promise<Set<string>> {
    const open = planned.filter(({ row }) => row.ended_at === null).flatMap(recordRow);
    const late = planned.filter(({ row }) => row.ended_at !== null).flatMap(recordRow);
    const ids = open.map(({ deliveryId }) => deliveryId);
    const written = [
      ...(open.length > 0 ? await run<{ delivery_id: string }>(RECORD, { rows: jsonRows(open), ids }) : []),
      ...(late.length > 0 ? await run<{ delivery_id: string }>(RECORD_LATE, { rows: jsonRows(late) }) : []),
    ];
    return new Set(written.map(({ delivery_id }) => delivery_id));
  }

  /**
   * A 410 disables the subscription before it is recorded, so that no crash in between leaves it enabled.
   * @returns the deliveries whose subscription is not disabled, because another transaction has locked it.
   */
  async #disableGone(reports: readonly ReportedAttempt[]): Promise<ReadonlySet<string>> {
    const lockedByOthers = new Set<string>();
    const gone = reports.filter(({ result }) => result?.httpStatus === GONE);
    if (gone.length === 0) return lockedByOthers;
    const lockedMerchants = new Set<string>();
    for (const { row, change, report } of await this.#plan(this.#deps.db.run, gone)) {
      if (!change || report.generation !== row.generation) continue;
      const isLocked = lockedMerchants.has(row.merchant_id) || !(await this.#disable(row, report));
      if (!isLocked) continue;
      lockedMerchants.add(row.merchant_id);
      lockedByOthers.add(row.id);
    }
    return lockedByOthers;
  }

  /**
   * Disables the subscription of a delivery. Waits only briefly for other transactions, because the results of all merchants
   * wait for it.
   * @returns false if another transaction has locked the subscription.
   */
  async #disable(row: ReportedRow, { generation }: ReportedAttempt): Promise<boolean> {
    try {
      await this.#deps.writes.transaction(tenantOfRow(row), backgroundContext(uuidv7()), async (tx) => {
        await tx.limitLockWaits(LOCK_TIMEOUT_MS);
        const position = await lockSubscriptions(tx);
        const subscription = await tx.lockOne(SubscriptionEntity, { id: row.subscription_id });
        if (subscription?.generation !== generation) return;
        const cause = { cause: 'GONE', httpStatus: GONE, deliveryId: row.id, eventId: row.event_id } as const;
        await disableSubscription(tx, subscription, { at: new Date(), position }, cause);
      });
      return true;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      return false;
    }
  }

  /**
   * Call this after the commit that ended deliveries: it sees deliveries that were added to their objects in the
   * meantime, and the owner of the lane finds later ones that are BLOCKED.
   */
  async #unblockNext(objects: readonly OrderedObjectRow[]): Promise<void> {
    if (objects.length === 0) return;
    await this.#deps.unblocker.unblock(objects);
    this.#deps.outboxSignal.committed('EVENTS');
  }
}

/**
 * Includes deliveries that had ended before: an earlier try may have recorded the end, and failed before it unblocked
 * the next delivery.
 */
const endsOrdered = ({ row, change }: PlannedReport) =>
  row.ordered && (row.ended_at !== null || change?.endedAt);

/**
 * Logs one line per attempt: the history of a delivery that does not succeed at once. A first attempt that succeeds
 * is logged at debug level only.
 */
function logReports(logger: Logger, decided: readonly PlannedReport[]): void {
  for (const planned of decided) {
    const { change, report, row } = planned;
    // The report is already known.
    if (!change) continue;
    const fields = logFieldsOf(planned);
    if (report.generation !== row.generation) {
      const message =
        'the attempt does not count for the subscription, which was disabled or got a new URL since';
      logger.info(fields, message);
    }
    if (!report.result) logger.debug(fields, 'an attempt of a delivery is taking long');
    else if (row.ended_at) logger.info(fields, 'an attempt ended after its delivery');
    else if (isSuccess(report.result))
      logger[report.number === 1 ? 'debug' : 'info'](fields, 'a delivery succeeded');
    else if (change.status === 'EXHAUSTED') logger.warn(fields, 'a delivery is exhausted');
    else logger.info(fields, 'an attempt of a delivery failed');
  }
}

function logFieldsOf({ change, report, row }: PlannedReport) {
  const { httpStatus, failure } = report.result ?? {};
  return {
    ...deliveryLogFields(row),
    attempt: report.number,
    cause: failure ?? (httpStatus === undefined ? undefined : `HTTP ${httpStatus}`),
    status: change?.status,
    nextAttemptAt: change?.nextAttemptAt ?? undefined,
  };
}
