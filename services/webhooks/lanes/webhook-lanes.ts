import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { CrossTenantDatabase } from '../../platform/database/cross-tenant-database.ts';
import { closeGuards, type EnvironmentGuards } from '../../platform/egress/environment-guards.ts';
import type { KeyRing } from '../../platform/key-ring.ts';
import type { OutboxSignal } from '../../platform/outbox/outbox-signal.ts';
import type { AttemptRecorder } from '../attempts/attempt-recorder.ts';
import { unblockLanes } from '../deliveries/ordered-deliveries.ts';
import type { EndpointStatistics } from '../health/endpoint-statistics.ts';
import { HeldDeliveries } from './held-deliveries.ts';
import { Interval } from './interval.ts';
import { LaneDispatcher, TableReads } from './lane-dispatcher.ts';
import { LaneLeases } from './lane-leases.ts';
import { measureLanes } from './lane-metrics.ts';
import { LaneReading } from './lane-reading.ts';
import { OpenAttempts } from './open-attempts.ts';
import { ResultRecorder } from './result-recorder.ts';
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
/** How often to look for attempts whose process has died. */
const CLOSE_LOST_MS = 1_000;
/** How often all waiting deliveries are read again, in case one was missed. */
const RECHECK_MS = 30_000;
/** Attempts that are in flight longer are aborted when the process stops: Docker kills it after ten seconds. */
const CLOSE_MS = 5_000;
/**
 * How long lanes wait for results before they are handed over or the process stops. The lease is not renewed meanwhile,
 * and what is not recorded by then is sent again.
 */
const FLUSH_WITHIN_MS = 1_500;

export interface WebhookLanesDeps {
  readonly db: CrossTenantDatabase;
  readonly recorder: AttemptRecorder;
  readonly statistics: Pick<EndpointStatistics, 'close'>;
  readonly guards: EnvironmentGuards;
  readonly keys: KeyRing;
  readonly outboxSignal: OutboxSignal;
  readonly firstWaits: Readonly<Record<'live' | 'test', number>>;
  readonly logger: Logger;
}

/**
 * Delivers the webhooks of the lanes that this process owns: reads deliveries as they are committed, makes their attempts
 * and records the results.
 */
export class WebhookLanes {
  readonly #deps: WebhookLanesDeps;
  readonly #leases: LaneLeases;
  readonly #results: ResultRecorder;
  readonly #reads = new TableReads();
  readonly #attempts: OpenAttempts;
  readonly #dispatcher: LaneDispatcher;
  readonly #held: HeldDeliveries;
  #reading: LaneReading | undefined;
  /** Lanes whose deliveries have not been read yet. */
  readonly #unread = new Set<number>();
  /** Lanes that may have BLOCKED deliveries with nothing before them, and whether these are being unblocked. */
  readonly #blocked = new Set<number>();
  #isUnblocking = false;
  /** Deliveries whose lost attempt is reported, and not yet recorded or set aside. */
  readonly #closing = new Set<string>();
  readonly #refreshes = new Interval(REFRESH_MS);
  readonly #sendsHeld = new Interval(HELD_MS);
  readonly #closesLost = new Interval(CLOSE_LOST_MS);
  readonly #rechecks = new Interval(RECHECK_MS, RECHECK_MS);
  readonly #stopping = new AbortController();
  readonly #sleep = new WakeableSleep();
  /** When everything new was last read. */
  #readAtMs = 0;
  readonly #atClose: (() => void)[] = [];
  #running: Promise<void> | undefined;

  constructor(deps: WebhookLanesDeps) {
    const { db, recorder, guards, logger, outboxSignal, firstWaits } = deps;
    const reads = this.#reads;
    this.#deps = deps;
    this.#results = new ResultRecorder(recorder, logger);
    const leases = new LaneLeases({
      db,
      logger,
      onTaken: (lanes) => {
        for (const lane of lanes) this.#unread.add(lane);
        this.#sleep.wake();
      },
      onLost: () => this.#dispatcher.dropLost(),
      beforeRelease: (lanes) => this.#recordInFlight(lanes),
      onReleased: () => outboxSignal.committed('EVENTS'),
    });
    const attempts = new OpenAttempts({
      leases,
      reads,
      guards,
      recorder: this.#results,
      onCommand: () => outboxSignal.committed('COMMANDS'),
      logger,
    });
    const dispatcher = new LaneDispatcher({
      leases,
      attempts,
      reads,
      firstWaits,
      subscriptionOf: (id) => this.#reading?.subscriptions.get(id),
      onNeedsMore: (id) => this.#readMore(id),
    });
    this.#leases = leases;
    this.#attempts = attempts;
    this.#dispatcher = dispatcher;
    const results = this.#results;
    this.#held = new HeldDeliveries({ db, leases, attempts, dispatcher, results, reads, logger });
  }

  start(): void {
    this.#leases.start();
    this.#readAtMs = performance.now();
    if (this.#running) return;
    this.#atClose.push(
      measureLanes({ lagMs: () => this.#lagMs(), setAside: () => this.#setAside() }),
      this.#deps.outboxSignal.handOverTo(() => this.#dispatcher.takeCommitted()),
    );
    this.#running = this.#run();
  }

  /**
   * Hands the lanes over at once, then waits for the attempts in flight, and aborts those that take longer: they are
   * recorded as lost, and the new owner makes the next attempt.
   */
  async close(): Promise<void> {
    const endBy = performance.now() + CLOSE_MS;
    this.#stopping.abort();
    this.#sleep.wake();
    for (const end of this.#atClose) end();
    this.#dispatcher.stop();
    await this.#leases.stop();
    await Promise.all([this.#running, this.#held.close()]);
    await this.#attempts.untilRecorded(endBy);
    this.#attempts.abort();
    await this.#attempts.untilRecorded(performance.now() + FLUSH_WITHIN_MS);
    await this.#results.flush(FLUSH_WITHIN_MS);
    await this.#deps.statistics.close();
    await closeGuards(this.#deps.guards);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const stopListening = this.#deps.outboxSignal.subscribe('EVENTS', () => this.#sleep.wake());
    let failures = 0;
    while (!signal.aborted) {
      try {
        await this.#read();
        failures = 0;
        await this.#sleep.sleep(MIN_SLEEP_MS, this.#refreshes.remainingMs);
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

  /** Reads everything new, and starts its attempts. */
  async #read(): Promise<void> {
    this.#leases.wake();
    this.#reading ??= await this.#begin();
    const reading = this.#reading;
    if (this.#refreshes.isDue()) await reading.refresh();
    if (this.#rechecks.isDue()) for (const lane of this.#leases.lanes) this.#unread.add(lane);
    await this.#openLanes(reading);
    await reading.readChanged();
    if (this.#sendsHeld.isDue()) await this.#held.send(reading.reader, reading.subscriptions);
    if (this.#closesLost.isDue()) await this.#closeLost();
    this.#attempts.recordInFlight();
    this.#dispatcher.pump();
    this.#readAtMs = performance.now();
  }

  async #begin(): Promise<LaneReading> {
    const { db, keys, logger } = this.#deps;
    const reading = await LaneReading.begin({
      db,
      keys,
      logger,
      leases: this.#leases,
      dispatcher: this.#dispatcher,
      results: this.#results,
      reads: this.#reads,
      readMore: (id) => this.#readMore(id),
    });
    for (const lane of this.#leases.lanes) this.#unread.add(lane);
    return reading;
  }

  #endReading(): void {
    this.#reading?.close();
    this.#reading = undefined;
  }

  #readMore(id: string): void {
    void this.#reading?.readMore(id);
  }

  async #openLanes(reading: LaneReading): Promise<void> {
    const lanes = [...this.#unread];
    if (lanes.length === 0) return;
    // One that is lost and taken again meanwhile is read again.
    this.#unread.clear();
    void this.#unblock(lanes);
    await reading.open(lanes);
  }

  /**
   * Runs concurrently with reading, because a merchant may have a million BLOCKED deliveries; reading finds those
   * that it unblocks.
   */
  async #unblock(lanes: readonly number[]): Promise<void> {
    for (const lane of lanes) this.#blocked.add(lane);
    if (this.#isUnblocking) return;
    this.#isUnblocking = true;
    while (this.#blocked.size > 0) {
      const next = [...this.#blocked];
      this.#blocked.clear();
      await unblockLanes(this.#deps.db.run, next).catch((error: unknown) =>
        this.#deps.logger.warn(
          { err: error },
          'could not unblock deliveries; trying again at the next check',
        ),
      );
    }
    this.#isUnblocking = false;
  }

  /** Records the attempts in this process's lanes whose own process has died. */
  async #closeLost(): Promise<void> {
    const { recorder, outboxSignal } = this.#deps;
    const known = [...this.#results.setAsideIds, ...this.#closing];
    for (const report of await recorder.findLost(this.#leases.lanes, known)) {
      const { deliveryId } = report;
      this.#closing.add(deliveryId);
      const onSetAside = () => this.#closing.delete(deliveryId);
      const onRecorded = () => {
        this.#closing.delete(deliveryId);
        outboxSignal.committed('COMMANDS');
      };
      this.#results.add(report, { onRecorded, onSetAside });
    }
  }

  async #recordInFlight(lanes: readonly number[]): Promise<void> {
    this.#dispatcher.dropLost();
    this.#attempts.recordInFlight(new Set(lanes));
    await this.#results.flush(FLUSH_WITHIN_MS);
  }

  #setAside() {
    return {
      RESULT: this.#results.setAsideIds.length,
      EVENT: this.#reading?.reader.withoutEvent.length ?? 0,
      SUBSCRIPTION: this.#reading?.subscriptions.countUnusable() ?? 0,
    };
  }

  /** The longest that a delivery which could be sent has waited, in memory or in the table. */
  #lagMs(): number {
    if (this.#leases.lanes.length === 0) return 0;
    const lateMs = performance.now() - this.#readAtMs - READ_WITHIN_MS;
    return Math.max(this.#dispatcher.lagMs, lateMs, this.#reading?.unreadMs ?? 0);
  }
}
