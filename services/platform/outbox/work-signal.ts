import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { OUTBOX_CHANNEL, type OutboxSignal, type OutboxWork } from './outbox-signal.ts';

/** How long the listener stays open after the last wait, so that the next one can reuse it. */
const LINGER_MS = 500;
const RECONNECT_MS = 1_000;

export interface WorkSignalDependencies {
  readonly database: Database;
  readonly outboxSignal: OutboxSignal;
  readonly logger: Logger;
}

/** The kind of work to wait for, and for how long. */
interface WorkWait {
  /** COMMANDS ignores commits that add only events. */
  readonly work: OutboxWork;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/**
 * Wakes callers that wait for work: immediately on commits of this process, and on those of other processes through one
 * connection that LISTENs while callers wait. Polling finds anything that signals miss.
 */
export class WorkSignal {
  readonly #dependencies: WorkSignalDependencies;
  readonly #emitter = new EventEmitter().setMaxListeners(0);
  /** Incremented by every signal. A version read before a query shows whether a signal came after it. */
  readonly #versions = { EVENTS: 0, COMMANDS: 0 };
  #waiting = 0;
  #listener: Promise<PoolClient | undefined> | undefined;
  #linger: NodeJS.Timeout | undefined;

  constructor(dependencies: WorkSignalDependencies) {
    this.#dependencies = dependencies;
    dependencies.outboxSignal.onWork((work) => this.wake(work));
  }

  /**
   * Calls `poll` on each signal and timeout until it finds work; undefined when the time is up or the caller aborts.
   */
  async await<T>(
    wait: WorkWait,
    poll: () => Promise<{ found: T | undefined; pollMs: number }>,
  ): Promise<T | undefined> {
    const endsAt = performance.now() + wait.waitMs;
    while (!wait.signal.aborted) {
      const seen = this.#versions[wait.work];
      const { found, pollMs } = await poll();
      const remainingMs = endsAt - performance.now();
      if (found !== undefined) return found;
      if (remainingMs <= 0) break;
      await this.#wait(seen, Math.min(remainingMs, pollMs), wait);
    }
    return undefined;
  }

  /** Calls the listener on each signal, until the returned function is called. */
  subscribe(work: OutboxWork, listener: () => void): () => void {
    this.#emitter.on(work, listener);
    this.#startWaiting();
    return () => {
      this.#emitter.off(work, listener);
      this.#stopWaiting();
    };
  }

  /** Resolves on the first signal after version `seen`, after the timeout, or when the caller aborts. */
  async #wait(seen: number, timeoutMs: number, { work, signal }: WorkWait): Promise<void> {
    this.#startWaiting();
    const done = new AbortController();
    const either = AbortSignal.any([done.signal, signal]);
    try {
      if (this.#versions[work] !== seen) return;
      const woken = once(this.#emitter, work, { signal: either });
      const timeout = delay(timeoutMs, undefined, { signal: either });
      await Promise.race([woken, timeout].map((wait) => wait.catch(() => undefined)));
    } finally {
      done.abort();
      this.#stopWaiting();
    }
  }

  #startWaiting(): void {
    this.#waiting += 1;
    clearTimeout(this.#linger);
    this.#listener ??= this.#listen();
  }

  #stopWaiting(): void {
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#linger = setTimeout(() => this.#stopListening(), LINGER_MS).unref();
  }

  /** Wakes the callers of this process that wait for such work. */
  wake(work: OutboxWork): void {
    const kinds: readonly OutboxWork[] = work === 'EVENTS' ? ['EVENTS'] : ['EVENTS', 'COMMANDS'];
    for (const kind of kinds) {
      this.#versions[kind] += 1;
      this.#emitter.emit(kind);
    }
  }

  async #listen(): Promise<PoolClient | undefined> {
    const { database } = this.#dependencies;
    let connection: PoolClient | undefined;
    try {
      connection = await database.connect();
      connection.on('notification', ({ payload = '' }) => {
        const work = this.#dependencies.outboxSignal.parseNotification(payload);
        if (work) this.wake(work);
      });
      connection.on('error', (error) => this.#reconnect(error));
      await connection.query(`listen ${OUTBOX_CHANNEL}`);
      void pingUntilEnd(connection, database.maxSilenceMs / 3);
      return connection;
    } catch (error) {
      connection?.release(true);
      this.#reconnect(error);
      return undefined;
    }
  }

  /** Reconnects after a delay, if callers still wait then. */
  #reconnect(error: unknown): void {
    this.#dependencies.logger.warn({ err: error }, 'listening for work failed; falling back to polling');
    const failed = this.#listener;
    setTimeout(() => {
      void failed?.then((connection) => connection?.release(true)).catch(() => undefined);
      if (this.#listener === failed) this.#listener = this.#waiting > 0 ? this.#listen() : undefined;
    }, RECONNECT_MS).unref();
  }

  #stopListening(): void {
    const listener = this.#listener;
    this.#listener = undefined;
    void listener?.then((connection) => connection?.release(true)).catch(() => undefined);
  }
}

async function pingUntilEnd(connection: PoolClient, everyMs: number): Promise<void> {
  try {
    for (;;) {
      await delay(everyMs, undefined, { ref: false });
      await connection.query('');
    }
  } catch {
    // The connection has ended; its error handler reconnects.
  }
}
