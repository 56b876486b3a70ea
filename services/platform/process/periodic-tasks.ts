import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import { Counter, Gauge } from 'prom-client';
import { tryAdvisoryLock } from '../database/advisory-lock.ts';
import type { Database } from '../database/database.ts';
import { metrics } from './telemetry.ts';

/**
 * Work on the database that a services process repeats at an interval. Of all processes on a database, only one at a time
 * works on a task.
 */
export interface PeriodicTask {
  /** The `task` label of metrics and log lines, and part of the lock's name. Never rename it. */
  readonly name: string;
  /** The mean time between two runs in a process. Each wait varies by half, so that processes spread out. */
  readonly intervalMs: number;
  /**
   * Does a bounded part of the work in its own transaction; use `database` for statements that cannot run in a
   * transaction. Returns how many rows it handled, and whether to call it again at once because there is more to do.
   */
  runBatch(em: EntityManager, database: Database): Promise<{ readonly rows: number; readonly more: boolean }>;
}

interface PeriodicTasksOptions {
  readonly database: Database;
  readonly logger: Logger;
  readonly tasks: readonly PeriodicTask[];
}

/** The first runs come soon, so that short-lived processes do their part too. */
const MAX_FIRST_WAIT_MS = 5_000;

const handledRows = new Counter({
  name: 'payments_maintenance_rows_total',
  help: 'Rows that periodic tasks handled in this process, by task.',
  labelNames: ['task'],
  registers: [metrics],
});
const lastSuccess = new Gauge({
  name: 'payments_maintenance_last_success_timestamp_seconds',
  help: 'When this process last completed a periodic task, by task; when it started, before that.',
  labelNames: ['task'],
  registers: [metrics],
});

/**
 * Runs the tasks one after the other, each at its interval, until it is closed. Every batch takes the task's advisory
 * lock for its transaction, so a process that dies does not block the others. A failure is logged, and the task runs
 * again after its interval.
 */
export class PeriodicTasks {
  readonly #options: PeriodicTasksOptions;
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: PeriodicTasksOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Resolves once the batch in progress, if any, is done. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    for (const { name } of this.#options.tasks) lastSuccess.set({ task: name }, Date.now() / 1_000);
    const queue = this.#options.tasks.map((task) => ({
      task,
      at: performance.now() + Math.min(MAX_FIRST_WAIT_MS, task.intervalMs) * Math.random(),
    }));
    for (;;) {
      const [next] = queue.sort((a, b) => a.at - b.at);
      if (!next || !(await wait(next.at - performance.now(), signal))) return;
      await this.#runTask(next.task);
      next.at = performance.now() + next.task.intervalMs * (0.5 + Math.random());
    }
  }

  async #runTask(task: PeriodicTask): Promise<void> {
    const { logger } = this.#options;
    const startedAt = performance.now();
    let rows = 0;
    try {
      for (let more = true; more && !this.#closing.signal.aborted; ) {
        const batch = await this.#runBatch(task);
        if (!batch) return;
        rows += batch.rows;
        handledRows.inc({ task: task.name }, batch.rows);
        more = batch.more;
      }
      lastSuccess.set({ task: task.name }, Date.now() / 1_000);
      const durationMs = Math.round(performance.now() - startedAt);
      logger[rows > 0 ? 'info' : 'debug']({ task: task.name, rows, durationMs }, 'periodic task done');
    } catch (error) {
      logger.warn({ err: error, task: task.name, rows }, 'periodic task failed; it runs again later');
    }
  }

  /** Undefined when another process is working on the task. */
  #runBatch(task: PeriodicTask) {
    const { database } = this.#options;
    return database.transaction(async (em) =>
      (await tryAdvisoryLock(em, `maintenance ${task.name}`)) ? task.runBatch(em, database) : undefined,
    );
  }
}

/** Resolves to false when the signal ends the wait. */
function wait(ms: number, signal: AbortSignal): Promise<boolean> {
  return delay(Math.max(ms, 0), true, { signal, ref: false }).catch(() => false);
}
