import { setTimeout as delay } from 'node:timers/promises';
import type { AreaDependencies } from '../../platform/area.ts';
import { CrossTenantDatabase } from '../../platform/database/cross-tenant-database.ts';
import {
  closeGuards,
  createEnvironmentGuards,
  type EgressConfig,
  type EnvironmentGuards,
} from '../../platform/egress/environment-guards.ts';
import type { Config } from '../../platform/process/config.ts';
import { AttemptRecorder } from '../attempts/attempt-recorder.ts';
import type { RecorderConfig } from '../attempts/plan-reports.ts';
import { Unblocker } from '../deliveries/ordered-deliveries.ts';
import { EndpointStatistics } from '../health/endpoint-statistics.ts';
import { HeldDeliveries, type HeldDeliveriesDeps } from './held-deliveries.ts';
import { Interval } from './interval.ts';
import { LaneDispatcher } from './lane-dispatcher.ts';
import { LaneLeases } from './lane-leases.ts';
import { type LaneMeasures, registerLaneMetrics } from './lane-metrics.ts';
import { LaneReading, type LaneReadingDeps } from './lane-reading.ts';
import { reportLost } from './lost-attempts.ts';
import { OpenAttempts } from './open-attempts.ts';
import { ReportBuffer } from './report-buffer.ts';
import { TableReads } from './table-reads.ts';
import { WakeableSleep } from './wakeable-sleep.ts';

/** The least pause between two reads, so that events that arrive together are read together. */
const MIN_SLEEP_MS = 2;
/** Reading counts as late when the last read ended longer ago than this. */
const READ_WITHIN_MS = 1_000;
const RECONNECT_MS = 500;
/**
 * How often changes of subscriptions are read: they take effect within a second. Deliveries that were not announced are
 * read then, too.
 */
const REFRESH_MS = 800;
const HELD_MS = 800;
/** How often to look for attempts that take long. */
const RECORD_LONG_MS = 200;
/** How often to look for attempts whose process has died. */
const REPORT_LOST_MS = 1_000;
/** How often all waiting deliveries are read again, in case one was missed. */
const RECHECK_MS = 30_000;
/** Attempts that are in flight longer are aborted when the process stops: Docker kills it after ten seconds. */
const CLOSE_MS = 5_000;
/**
 * How long lanes wait for results before they are handed over or the process stops. The lease is not renewed meanwhile,
 * and unrecorded attempts are made again.
 */
const FLUSH_WITHIN_MS = 1_500;

type LanesConfig = EgressConfig & RecorderConfig & Pick<Config, 'WEBHOOK_SECRET_KEYS'>;

export interface LanesDependencies
  extends Pick<AreaDependencies, 'database' | 'writes' | 'outboxSignal' | 'logger'> {
  readonly config: LanesConfig;
}

/**
 * Starts the delivery of webhooks in this process.
 * @param guards check every connection; tests use them to replace name resolution.
 */
export function startWebhookLanes(
  dependencies: LanesDependencies,
  guards: EnvironmentGuards = createEnvironmentGuards(dependencies.config),
): WebhookLanes {
  const lanes = new WebhookLanes(dependencies, guards);
  lanes.start();
  return lanes;
}

type LaneParts = LaneReadingDeps &
  HeldDeliveriesDeps & { readonly leases: LaneLeases; readonly reports: ReportBuffer };

/**
 * Delivers the webhooks of the lanes that this process owns. It owns the parts, which it connects with each other, and the
 * loop that does their periodic work. There is at most one reading: when it fails, its successor reads everything again.
 */
export class WebhookLanes {
  readonly #deps: LanesDependencies;
  readonly #guards: EnvironmentGuards;
  readonly #statistics: EndpointStatistics;
  readonly #parts: LaneParts;
  readonly #held: HeldDeliveries;
  #reading: LaneReading | undefined;
  readonly #refreshes = new Interval(REFRESH_MS);
  readonly #sendsHeld = new Interval(HELD_MS);
  readonly #recordsLong = new Interval(RECORD_LONG_MS);
  readonly #reportsLost = new Interval(REPORT_LOST_MS);
  readonly #rechecks = new Interval(RECHECK_MS);
  readonly #stopping = new AbortController();
  readonly #sleep = new WakeableSleep();
  /** When everything new was last read. */
  #readAtMs = 0;
  #endHandover: (() => void) | undefined;
  #running: Promise<void> | undefined;

  constructor(deps: LanesDependencies, guards: EnvironmentGuards) {
    const { config, database, outboxSignal, logger } = deps;
    const db = new CrossTenantDatabase(database);
    const statistics = new EndpointStatistics(db.run, logger);
    const unblocker = new Unblocker(db.run, logger);
    const reports = new ReportBuffer(new AttemptRecorder({ ...deps, db, statistics, unblocker }), logger);
    const reads = new TableReads();
    const leases = new LaneLeases({
      db,
      logger,
      onTaken: (lanes) => {
        this.#reading?.addLanes(lanes);
        this.#sleep.wake();
      },
      onLost: () => dispatcher.dropLost(),
      beforeRelease: (lanes) => this.#recordInFlight(lanes),
      onReleased: () => outboxSignal.committed('EVENTS'),
    });
    const attempts = new OpenAttempts({ leases, reads, guards, reports, logger });
    const { WEBHOOK_SCHEDULE_LIVE: live, WEBHOOK_SCHEDULE_SANDBOX: test, WEBHOOK_SECRET_KEYS: keys } = config;
    const dispatcher = new LaneDispatcher({
      leases,
      attempts,
      reads,
      firstWaits: { live: live[0] ?? 0, test: test[0] ?? 0 },
      subscriptionOf: (id) => this.#reading?.subscriptions.get(id),
      onNeedsMore: (id) => void this.#reading?.readMore(id),
    });
    this.#deps = deps;
    this.#guards = guards;
    this.#statistics = statistics;
    this.#parts = { db, keys, leases, dispatcher, attempts, reports, reads, unblocker, logger };
    this.#held = new HeldDeliveries(this.#parts);
  }

  start(): void {
    const { leases, dispatcher } = this.#parts;
    leases.start();
    this.#readAtMs = performance.now();
    registerLaneMetrics(() => this.#measure());
    this.#endHandover = this.#deps.outboxSignal.handOverTo(() => dispatcher.takeCommitted());
    this.#running = this.#run();
  }

  /**
   * Hands the lanes over at once, then waits for the attempts in flight. Aborts attempts that take longer: they are
   * recorded as lost, and the new owner makes the next attempt.
   */
  async close(): Promise<void> {
    const { leases, attempts, reports } = this.#parts;
    const endBy = performance.now() + CLOSE_MS;
    this.#stopping.abort();
    this.#sleep.wake();
    this.#endHandover?.();
    await leases.stop();
    await Promise.all([this.#running, this.#held.close()]);
    await attempts.untilRecorded(endBy);
    attempts.abort();
    await attempts.untilRecorded(performance.now() + FLUSH_WITHIN_MS);
    await reports.flush(FLUSH_WITHIN_MS);
    await this.#statistics.close();
    await closeGuards(this.#guards);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const stopListening = this.#deps.outboxSignal.subscribe('EVENTS', () => this.#sleep.wake());
    let failures = 0;
    while (!signal.aborted) {
      try {
        const isDueAgain = await this.#read();
        failures = 0;
        if (!isDueAgain) await this.#sleep.sleep(this.#refreshes.remainingMs, MIN_SLEEP_MS);
      } catch (error) {
        if (failures === 0)
          this.#deps.logger.warn({ err: error }, 'reading webhook deliveries was interrupted');
        failures += 1;
        this.#endReading();
        await delay(RECONNECT_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    stopListening();
    this.#endReading();
  }

  /** Reads what is new, and starts its attempts. @returns whether to read again at once. */
  async #read(): Promise<boolean> {
    const { db, leases, attempts, dispatcher, reports } = this.#parts;
    leases.wake();
    const reading = this.#reading ?? (await this.#begin());
    if (this.#refreshes.isDue()) await reading.refresh();
    if (this.#rechecks.isDue()) reading.addLanes(leases.lanes);
    const { isComplete, isDueAgain } = await reading.readNew();
    if (this.#sendsHeld.isDue()) await this.#held.send(reading.reader, reading.subscriptions);
    if (this.#reportsLost.isDue()) await reportLost(db.run, leases.lanes, reports);
    if (this.#recordsLong.isDue()) attempts.recordLong();
    dispatcher.pump();
    if (isComplete) this.#readAtMs = performance.now();
    return isDueAgain;
  }

  async #begin(): Promise<LaneReading> {
    const { leases, dispatcher } = this.#parts;
    this.#reading = await LaneReading.begin(this.#parts);
    // `onTaken` adds lanes to an existing reading only, so lanes taken earlier are added here.
    this.#reading.addLanes(leases.lanes);
    // What changed since the last reading ended, such as deliveries that were canceled, no longer counts as a change. Subscriptions
    // that had a turn then have lost it.
    dispatcher.changed(dispatcher.subscriptionIds);
    return this.#reading;
  }

  #endReading(): void {
    this.#reading?.close();
    this.#reading = undefined;
  }

  async #recordInFlight(lanes: readonly number[]): Promise<void> {
    const { dispatcher, attempts, reports } = this.#parts;
    dispatcher.dropLost();
    attempts.recordInFlight(lanes);
    await reports.flush(FLUSH_WITHIN_MS);
  }

  #measure(): LaneMeasures {
    return {
      lagMs: this.#lagMs(),
      setAside: [
        { reason: 'RESULT', count: this.#parts.reports.setAsideIds.length },
        { reason: 'EVENT', count: this.#reading?.reader.withoutEvent.length ?? 0 },
        { reason: 'SUBSCRIPTION', count: this.#reading?.subscriptions.countUnusable() ?? 0 },
      ],
    };
  }

  /** The longest that a delivery which could be sent has waited, in memory or in the table. */
  #lagMs(): number {
    const { leases, dispatcher } = this.#parts;
    if (leases.lanes.length === 0) return 0;
    const lateMs = performance.now() - this.#readAtMs - READ_WITHIN_MS;
    return Math.max(dispatcher.lagMs, lateMs, this.#reading?.unreadMs ?? 0);
  }
}
