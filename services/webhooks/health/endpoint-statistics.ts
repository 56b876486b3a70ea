import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Run } from '../../platform/database/cross-tenant-database.ts';
import { isDatabaseUnavailable } from '../../platform/database/database-errors.ts';
import { jsonRows } from '../../platform/database/json-rows.ts';
import { type AttemptResult, isSuccess } from '../deliveries/delivery.ts';
import { EndpointTally } from './endpoint-tally.ts';
import { STORE_TALLIES } from './store-tallies.sql.ts';

/** A change of whether an endpoint is failing is stored within this time. */
const CHANGE_MS = 1_000;
/** Other counts may wait longer, so that counting costs little. */
const COUNT_MS = 5_000;
const RETRY_MS = 1_000;
/** Endpoints may fail until they are deleted. A recovery of one that was forgotten is stored with other counts. */
const MAX_FAILING = 10_000;

/**
 * Counts how attempts end and stores it with one statement every few seconds, however many there are. A process that dies
 * loses the counts of its last seconds.
 */
export class EndpointStatistics {
  readonly #run: Run;
  readonly #logger: Logger;
  #tallies = new Map<string, EndpointTally>();
  /** Subscriptions whose last attempt failed, as far as this process knows. */
  readonly #failing = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #dueAtMs = 0;
  #storing: Promise<void> | undefined;
  #isClosing = false;

  constructor(run: Run, logger: Logger) {
    this.#run = run;
    this.#logger = logger;
  }

  /** Counts the result of an attempt. */
  add(subscriptionId: string, generation: bigint, result: AttemptResult): void {
    // Our process failed, not the endpoint.
    if (result.failure === 'WORKER_LOST') return;
    const key = `${subscriptionId} ${generation}`;
    let tally = this.#tallies.get(key);
    if (!tally) {
      tally = new EndpointTally(subscriptionId, generation);
      this.#tallies.set(key, tally);
    }
    tally.add(result);
    const wasFailing = this.#failing.has(subscriptionId);
    if (isSuccess(result)) this.#failing.delete(subscriptionId);
    else {
      if (this.#failing.size >= MAX_FAILING) this.#failing.clear();
      this.#failing.add(subscriptionId);
    }
    this.#schedule(wasFailing || !isSuccess(result) ? CHANGE_MS : COUNT_MS);
  }

  /** Stores the counts. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#storing;
    await this.#store();
  }

  /** Stores the counts, if the database is available. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.flush();
  }

  #schedule(withinMs: number): void {
    const atMs = performance.now() + withinMs;
    if (this.#storing || (this.#timer && this.#dueAtMs <= atMs)) return;
    clearTimeout(this.#timer);
    this.#dueAtMs = atMs;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#storing = this.#store().finally(() => {
        this.#storing = undefined;
        if (this.#tallies.size > 0 && !this.#isClosing) this.#schedule(CHANGE_MS);
      });
    }, withinMs).unref();
  }

  /**
   * Runs one statement at a time, so that a success does not overtake earlier failures. Tries again while the database is
   * unavailable; counts that it rejects are dropped, because they would stop all later ones.
   */
  async #store(): Promise<void> {
    if (this.#tallies.size === 0) return;
    const tallies = [...this.#tallies.values()];
    this.#tallies = new Map();
    const slots = jsonRows(tallies.flatMap((tally) => tally.slotRows()));
    const healths = jsonRows(tallies.map((tally) => tally.healthRow()));
    for (let failures = 0; ; failures += 1) {
      try {
        await this.#run(STORE_TALLIES, { slots, healths });
        return;
      } catch (error) {
        if (!isDatabaseUnavailable(error)) {
          this.#logger.error({ err: error }, 'attempt counts were rejected and are lost');
          return;
        }
        if (failures === 0) this.#logger.warn({ err: error }, 'could not store attempt counts; trying again');
        if (this.#isClosing) return;
        await delay(RETRY_MS);
      }
    }
  }
}
