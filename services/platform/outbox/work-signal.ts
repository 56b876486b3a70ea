import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { OUTBOX_CHANNEL, type OutboxSignal, type OutboxWork } from './outbox.ts';

/** Kept so long after the last wait, so that the next one finds it. */
const LINGER_MS = 500;
const RECONNECT_MS = 1_000;

export interface WorkSignalDependencies {
  readonly database: Database;
  readonly outboxSignal: OutboxSignal;
  readonly logger: Logger;
}

/** What somebody waits for, and for how long. */
interface WorkWait {
  /** COMMANDS: what adds events alone is no news. */
  readonly work: OutboxWork;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/**
 * Wakes whoever waits for work: at once by a commit of this process, and over one connection that LISTENs while
 * somebody waits by those of other processes. What it misses, a poll finds.
 */
export class WorkSignal {
  readonly #dependencies: WorkSignalDependencies;
  readonly #emitter = new EventEmitter().setMaxListeners(0);
  /** Rise with every signal that is news: taken before a look, one tells what that look cannot have seen. */
  readonly #versions = { EVENTS: 0, COMMANDS: 0 };
  #waiting = 0;
  #listener: Promise<PoolClient | undefined> | undefined;
  #linger: NodeJS.Timeout | undefined;

  constructor(dependencies: WorkSignalDependencies) {
    this.#dependencies = dependencies;
    dependencies.outboxSignal.onWork((work) => this.#wake(work));
  }

  /**
   * Looks for work, again with each signal and poll, until there is some: undefined when the time is up or the caller
   * has given up.
   */
  async await<T>(
    wait: WorkWait,
    look: () => Promise<{ found: T | undefined; pollMs: number }>,
  ): Promise<T | undefined> {
    const endsAt = performance.now() + wait.waitMs;
    while (!wait.signal.aborted) {
      const seen = this.#versions[wait.work];
      const { found, pollMs } = await look();
      const leftMs = endsAt - performance.now();
      if (found !== undefined) return found;
      if (leftMs <= 0) break;
      await this.#wait(seen, Math.min(leftMs, pollMs), wait);
    }
    return undefined;
  }

  /** Resolves on the first signal after `seen`, after the time, or when the caller gives up. */
  async #wait(seen: number, timeoutMs: number, { work, signal }: WorkWait): Promise<void> {
    this.#waiting += 1;
    clearTimeout(this.#linger);
    this.#listener ??= this.#listen();
    const done = new AbortController();
    const either = AbortSignal.any([done.signal, signal]);
    try {
      if (this.#versions[work] !== seen) return;
      const woken = once(this.#emitter, work, { signal: either });
      const late = delay(timeoutMs, undefined, { signal: either });
      await Promise.race([woken, late].map((wait) => wait.catch(() => undefined)));
    } finally {
      done.abort();
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#linger = setTimeout(() => this.#hangUp(), LINGER_MS).unref();
    }
  }

  #wake(work: OutboxWork): void {
    const told: readonly OutboxWork[] = work === 'EVENTS' ? ['EVENTS'] : ['EVENTS', 'COMMANDS'];
    for (const waitedFor of told) {
      this.#versions[waitedFor] += 1;
      this.#emitter.emit(waitedFor);
    }
  }

  async #listen(): Promise<PoolClient | undefined> {
    const { database } = this.#dependencies;
    let connection: PoolClient | undefined;
    try {
      connection = await database.connect();
      connection.on('notification', ({ payload = '' }) => {
        const work = this.#dependencies.outboxSignal.heard(payload);
        if (work) this.#wake(work);
      });
      connection.on('error', (error) => this.#lost(error));
      await connection.query(`listen ${OUTBOX_CHANNEL}`);
      void pingUntilEnd(connection, database.maxSilenceMs / 3);
      return connection;
    } catch (error) {
      connection?.release(true);
      this.#lost(error);
      return undefined;
    }
  }

  /** Connects again after a while, if somebody still waits then. */
  #lost(error: unknown): void {
    this.#dependencies.logger.warn({ err: error }, 'no longer listening for work; polling goes on');
    const lost = this.#listener;
    setTimeout(() => {
      void lost?.then((connection) => connection?.release(true)).catch(() => undefined);
      if (this.#listener === lost) this.#listener = this.#waiting > 0 ? this.#listen() : undefined;
    }, RECONNECT_MS).unref();
  }

  #hangUp(): void {
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
    // It has ended; whoever holds it hears of that.
  }
}
