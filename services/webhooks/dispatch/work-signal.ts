import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { Logger } from 'pino';
import type { Database } from '../../platform/database.ts';
import { OUTBOX_CHANNEL, type OutboxSignal } from '../../platform/outbox.ts';

/** Kept so long after the last wait, so that the next one finds it. */
const LINGER_MS = 500;
const RECONNECT_MS = 1_000;

export interface WorkSignalDependencies {
  readonly database: Database;
  readonly outboxSignal: OutboxSignal;
  readonly logger: Logger;
}

/**
 * Wakes whoever waits for work: at once by a commit of this process, and over one connection that LISTENs while
 * somebody waits by those of other processes. What it misses, a poll finds.
 */
export class WorkSignal {
  readonly #dependencies: WorkSignalDependencies;
  readonly #emitter = new EventEmitter().setMaxListeners(0);
  /** Rises with every signal: taken before a look, it tells what that look cannot have seen. */
  #version = 0;
  #waiting = 0;
  #listener: Promise<PoolClient | undefined> | undefined;
  #linger: NodeJS.Timeout | undefined;

  constructor(dependencies: WorkSignalDependencies) {
    this.#dependencies = dependencies;
    dependencies.outboxSignal.onWork(() => this.#wake());
  }

  /**
   * Looks for work, again with each signal and poll, until there is some: undefined when the time is up or the caller
   * has given up.
   */
  async await<T>(
    { waitMs, signal }: { waitMs: number; signal: AbortSignal },
    look: () => Promise<{ found: T | undefined; pollMs: number }>,
  ): Promise<T | undefined> {
    const endsAt = performance.now() + waitMs;
    while (!signal.aborted) {
      const seen = this.#version;
      const { found, pollMs } = await look();
      const leftMs = endsAt - performance.now();
      if (found !== undefined) return found;
      if (leftMs <= 0) break;
      await this.#wait(seen, Math.min(leftMs, pollMs), signal);
    }
    return undefined;
  }

  /** Resolves on the first signal after `seen`, after the time, or when the caller gives up. */
  async #wait(seen: number, timeoutMs: number, signal: AbortSignal): Promise<void> {
    this.#waiting += 1;
    clearTimeout(this.#linger);
    this.#listener ??= this.#listen();
    const done = new AbortController();
    const either = AbortSignal.any([done.signal, signal]);
    try {
      if (this.#version !== seen) return;
      const woken = once(this.#emitter, 'work', { signal: either });
      const late = delay(timeoutMs, undefined, { signal: either });
      await Promise.race([woken, late].map((wait) => wait.catch(() => undefined)));
    } finally {
      done.abort();
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#linger = setTimeout(() => this.#hangUp(), LINGER_MS).unref();
    }
  }

  #wake(): void {
    this.#version += 1;
    this.#emitter.emit('work');
  }

  async #listen(): Promise<PoolClient | undefined> {
    try {
      const connection = await this.#dependencies.database.connect();
      connection.on('notification', () => this.#wake());
      connection.on('error', (error) => this.#lost(error));
      await connection.query(`listen ${OUTBOX_CHANNEL}`);
      return connection;
    } catch (error) {
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
