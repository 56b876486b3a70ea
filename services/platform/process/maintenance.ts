import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import { Counter, Gauge } from 'prom-client';
import { tryAdvisoryLock } from '../database/advisory-lock.ts';
import type { Database } from '../database/database.ts';
import { metrics } from './telemetry.ts';

/** Upkeep of the database that no request waits for, in short steps. */
export interface MaintenanceTask {
  /** A label of metrics and log lines, and the name of the lock: `expired-idempotency-records`. */
  readonly name: string;
  /** One step, in a transaction of its own: how many rows it handled, and whether more of them wait. */
  step(em: EntityManager): Promise<{ readonly rows: number; readonly more: boolean }>;
}

interface MaintenanceOptions {
  readonly database: Database;
  readonly logger: Logger;
  readonly tasks: readonly MaintenanceTask[];
  /** Mean time between two rounds; each wait is half of it to one and a half, so that processes spread out. */
  readonly intervalMs?: number;
}

const INTERVAL_MS = 60_000;
/** The first round comes soon, so that processes that never live long do their part too. */
const FIRST_WAIT_MS = 5_000;

const handledRows = new Counter({
  name: 'payments_maintenance_rows_total',
  help: 'Rows that maintenance handled in this process, by task.',
  labelNames: ['task'],
  registers: [metrics],
});
const lastSuccess = new Gauge({
  name: 'payments_maintenance_last_success_timestamp_seconds',
  help: 'When this process last finished a task of maintenance, by task.',
  labelNames: ['task'],
  registers: [metrics],
});

/**
 * Runs the tasks again and again until it is closed. Every step takes the task's lock for its transaction, so of all
 * processes on a database one at a time works at a task, and one that dies holds nothing up. A task that fails, or a
 * database that is away, is logged and tried again in the next round.
 */
export class Maintenance {
  readonly #options: MaintenanceOptions;
  readonly #closing = new AbortController();
  #rounds: Promise<void> | undefined;

  constructor(options: MaintenanceOptions) {
    this.#options = options;
  }

  /** Starts the rounds. */
  start(): void {
    this.#rounds ??= this.#runRounds();
  }

  /** Ends the rounds after the step that is under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#rounds;
  }

  async #runRounds(): Promise<void> {
    const { signal } = this.#closing;
    const { tasks, intervalMs = INTERVAL_MS } = this.#options;
    let waitMs = Math.min(FIRST_WAIT_MS, intervalMs) * Math.random();
    while (await waited(waitMs, signal)) {
      for (const task of tasks) await this.#runTask(task);
      waitMs = intervalMs * (0.5 + Math.random());
    }
  }

  async #runTask(task: MaintenanceTask): Promise<void> {
    const { logger } = this.#options;
    const startedAt = performance.now();
    let rows = 0;
    try {
      for (let more = true; more && !this.#closing.signal.aborted; ) {
        const step = await this.#runStep(task);
        if (!step) return;
        rows += step.rows;
        handledRows.inc({ task: task.name }, step.rows);
        more = step.more;
      }
      lastSuccess.set({ task: task.name }, Date.now() / 1_000);
      const durationMs = Math.round(performance.now() - startedAt);
      logger[rows > 0 ? 'info' : 'debug']({ task: task.name, rows, durationMs }, 'maintenance');
    } catch (error) {
      logger.warn({ err: error, task: task.name, rows }, 'maintenance failed, it is tried again');
    }
  }

  /** One step; undefined when another process is at this task. */
  #runStep({ name, step }: MaintenanceTask) {
    return this.#options.database.transaction(async (em) =>
      (await tryAdvisoryLock(em, `maintenance ${name}`)) ? step(em) : undefined,
    );
  }
}

/** Waits; answers false when the signal ends the wait. */
function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  return delay(ms, true, { signal, ref: false }).catch(() => false);
}
