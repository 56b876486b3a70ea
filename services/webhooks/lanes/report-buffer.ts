import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isDatabaseUnavailable } from '../../platform/database/database-errors.ts';
import type { AttemptRecorder } from '../attempts/attempt-recorder.ts';
import type { ReportedAttempt } from '../deliveries/delivery.ts';
import { WakeableSleep } from './wakeable-sleep.ts';

/** Results are recorded together after this time, or as soon as there are this many. */
const FLUSH_MS = 20;
const MAX_BATCH = 200;
/**
 * The same for results that are not urgent. A process that is killed loses them, and their deliveries are sent again.
 */
const NOT_URGENT_FLUSH_MS = 100;
const NOT_URGENT_BATCH = 50;
/** How often a flush checks whether it is done. */
const FLUSH_CHECK_MS = 5;
const MAX_BACKOFF_MS = 2_000;
/** The pause when another transaction holds the subscriptions of all results. */
const LOCKED_MS = 100;
/** How often results that were set aside are tried again. */
const TRY_AGAIN_MS = 60_000;
/** Results beyond this are forgotten: their deliveries are read and sent again. */
const MAX_SET_ASIDE = 1_000;

interface RecordOptions {
  /** Called with false if the report was refused, because another process owns the lane, or is forgotten. */
  readonly onRecorded?: (isRecorded: boolean) => void;
  /** Called when the report cannot be recorded now; it is tried again from time to time. */
  readonly onSetAside?: () => void;
  /** Whether a retry, or a later event of the same object, waits for the result. Default: true. */
  readonly isUrgent?: boolean;
}

interface Pending extends RecordOptions {
  readonly report: ReportedAttempt;
}

/**
 * Buffers reports of attempts, and records several in one statement. While the database is unavailable, it keeps them and
 * tries again: it repeats the report, never the attempt. A report that the database rejects is set aside and tried again
 * every minute.
 */
export class ReportBuffer {
  readonly #recorder: Pick<AttemptRecorder, 'record'>;
  readonly #logger: Logger;
  #pending: Pending[] = [];
  /** What is being recorded and has no outcome yet. */
  readonly #recording = new Set<Pending>();
  readonly #setAside = new Map<string, Pending>();
  #isRetryScheduled = false;
  #running: Promise<void> | undefined;
  /** When the pending results are due to be recorded, by `performance.now()`. */
  #dueAtMs = Number.POSITIVE_INFINITY;
  readonly #sleep = new WakeableSleep();
  readonly #tryAgainMs: number;

  constructor(recorder: Pick<AttemptRecorder, 'record'>, logger: Logger, tryAgainMs: number = TRY_AGAIN_MS) {
    this.#recorder = recorder;
    this.#logger = logger;
    this.#tryAgainMs = tryAgainMs;
  }

  /** The deliveries whose results are set aside. */
  get setAsideIds(): string[] {
    return [...this.#setAside.keys()];
  }

  /** The deliveries with a result that is not recorded, whether or not it is set aside. */
  get unrecordedIds(): string[] {
    return [...this.setAsideIds, ...this.#unrecorded.map(({ report }) => report.deliveryId)];
  }

  add(report: ReportedAttempt, options: RecordOptions = {}): void {
    this.#pending.push({ report, ...options });
    if (options.isUrgent ?? true) this.#recordWithin(FLUSH_MS);
    else this.#recordWithin(this.#pending.length >= NOT_URGENT_BATCH ? 0 : NOT_URGENT_FLUSH_MS);
  }

  /**
   * Resolves when what has been added until now is recorded or set aside; more may be added meanwhile. Gives up after
   * `withinMs`, for example while the database is away.
   */
  async flush(withinMs: number): Promise<void> {
    if (this.#pending.length > 0) this.#recordWithin(0);
    const endBy = performance.now() + withinMs;
    let left = this.#unrecorded;
    while (left.length > 0 && performance.now() < endBy) {
      await delay(FLUSH_CHECK_MS);
      const unrecorded = new Set(this.#unrecorded);
      left = left.filter((pending) => unrecorded.has(pending));
    }
  }

  get #unrecorded(): Pending[] {
    return [...this.#recording, ...this.#pending];
  }

  #recordWithin(ms: number): void {
    const atMs = performance.now() + ms;
    if (atMs < this.#dueAtMs) {
      this.#dueAtMs = atMs;
      this.#sleep.wake();
    }
    this.#running ??= this.#run();
  }

  async #untilDue(): Promise<void> {
    for (;;) {
      const waitMs = this.#dueAtMs - performance.now();
      if (waitMs <= 0 || this.#pending.length >= MAX_BATCH) return;
      await this.#sleep.sleep(waitMs);
    }
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (this.#pending.length > 0) {
      if (failures === 0) await this.#untilDue();
      const batch = this.#nextBatch();
      for (const pending of batch) this.#recording.add(pending);
      this.#dueAtMs = this.#pending.length > 0 ? performance.now() + FLUSH_MS : Number.POSITIVE_INFINITY;
      try {
        await this.#record(batch);
        failures = 0;
      } catch (error) {
        if (failures === 0)
          this.#logger.warn({ err: error }, 'could not record attempt results; trying again');
        // Those that were recorded before the failure are not reported again.
        this.#pending = [...this.#recording, ...this.#pending];
        this.#recording.clear();
        failures += 1;
        await delay(Math.min(FLUSH_MS * 2 ** failures, MAX_BACKOFF_MS));
      }
    }
    this.#running = undefined;
  }

  /** A batch has one report per delivery: a second one waits for the first. */
  #nextBatch(): Pending[] {
    const batch = new Map<string, Pending>();
    const rest: Pending[] = [];
    for (const pending of this.#pending) {
      const { deliveryId } = pending.report;
      if (batch.size < MAX_BATCH && !batch.has(deliveryId)) batch.set(deliveryId, pending);
      else rest.push(pending);
    }
    this.#pending = rest;
    return [...batch.values()];
  }

  /**
   * Throws while the database is unavailable. A report that cannot be recorded is set aside and does not stop the
   * others.
   */
  async #record(batch: readonly Pending[]): Promise<void> {
    try {
      const { recorded, locked } = await this.#recorder.record(batch.map(({ report }) => report));
      for (const pending of batch) {
        const { report, onRecorded } = pending;
        if (locked.has(report.deliveryId)) continue;
        this.#recording.delete(pending);
        this.#setAside.delete(report.deliveryId);
        onRecorded?.(recorded.has(report.deliveryId));
      }
      if (locked.size > 0) this.#postpone(batch.filter(({ report }) => locked.has(report.deliveryId)));
      if (locked.size === batch.length) await delay(LOCKED_MS);
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      if (batch.length > 1) {
        const half = Math.ceil(batch.length / 2);
        await this.#record(batch.slice(0, half));
        await this.#record(batch.slice(half));
        return;
      }
      this.#setAsideReport(batch[0]!, error);
    }
  }

  /** Moves results behind those of other deliveries, but before later ones of the same delivery. */
  #postpone(locked: readonly Pending[]): void {
    for (const pending of locked) this.#recording.delete(pending);
    const ids = new Set(locked.map(({ report }) => report.deliveryId));
    const later = this.#pending.filter(({ report }) => ids.has(report.deliveryId));
    const others = this.#pending.filter(({ report }) => !ids.has(report.deliveryId));
    this.#pending = [...others, ...locked, ...later];
    this.#recordWithin(FLUSH_MS);
  }

  #setAsideReport(pending: Pending, error: unknown): void {
    this.#recording.delete(pending);
    const { deliveryId } = pending.report;
    const isNew = !this.#setAside.has(deliveryId);
    if (isNew) this.#logger.error({ err: error, deliveryId }, 'the result of an attempt was set aside');
    if (isNew && this.#setAside.size >= MAX_SET_ASIDE) {
      pending.onRecorded?.(false);
      return;
    }
    // The second of two reports of one delivery is the result.
    this.#setAside.set(deliveryId, pending);
    pending.onSetAside?.();
    if (this.#isRetryScheduled) return;
    this.#isRetryScheduled = true;
    setTimeout(() => {
      this.#isRetryScheduled = false;
      this.#pending.push(...this.#setAside.values());
      if (this.#pending.length > 0) this.#recordWithin(FLUSH_MS);
    }, this.#tryAgainMs).unref();
  }
}
