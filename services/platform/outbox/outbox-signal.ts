import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import type { CommittedEvent } from './outbox-events.ts';

/** What a commit added to the outbox: only events, or also commands. */
export type OutboxWork = 'EVENTS' | 'COMMANDS';

/** Announces commits with commands, and perhaps events. Every process that waits for work listens to it. */
export const OUTBOX_CHANNEL = 'payments_outbox';
/** Announces commits with events only, by far the most: they do not wake processes that wait for commands. */
export const EVENTS_CHANNEL = 'payments_events';
/** The minimum time between two notifications. Each costs every listening process about as much as a small read. */
const NOTIFY_INTERVAL_MS = 5;
/** How long the connection stays open after the last wait, so that the next one can reuse it. */
const LINGER_MS = 500;
const RECONNECT_MS = 1_000;

/** A publication in progress, as seen by the lanes that may take its deliveries. */
export interface Handover {
  /**
   * @returns whether it took all deliveries; it finds the others on its next read of the table.
   */
  take(events: readonly CommittedEvent[]): boolean;
  /** Whether attempts of these lanes are under way. */
  readonly isDelivering: boolean;
  end(): void;
}

/** The kind of work to wait for, and for how long. */
interface WorkWait {
  /** COMMANDS ignores commits that add only events. */
  readonly work: OutboxWork;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/**
 * Signals that a commit added work to the outbox: immediately within this process, and to other processes by NOTIFY on a
 * separate connection. The first commit is announced at once, those of the next 5 ms together. Wakes callers that wait for
 * work: one connection LISTENs while they wait. A lost notification delays work until the next poll, but never loses it.
 * Deliveries that this process publishes are handed to its own lanes, if it runs any: they need not read them from the
 * table, and no other process has to be notified.
 */
export class OutboxSignal {
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #emitter = new EventEmitter().setMaxListeners(0);
  /** Identifies this process in notifications. */
  readonly #sender = randomUUID();
  /** What the next notification announces. */
  #pending: OutboxWork | undefined;
  /** Whether a notification began less than the interval ago. */
  #isNotifying = false;
  /** Incremented by every signal. A version read before a query shows whether a signal came after it. */
  readonly #versions = { EVENTS: 0, COMMANDS: 0 };
  #waiting = 0;
  readonly #channels = new Set([OUTBOX_CHANNEL]);
  #connection: Promise<PoolClient | undefined> | undefined;
  #linger: NodeJS.Timeout | undefined;
  #beginHandover: (() => Handover) | undefined;
  /** Whether the outage that keeps it from listening has been logged. */
  #isOutageLogged = false;

  constructor(database: Database, logger: Logger) {
    this.#database = database;
    this.#logger = logger;
  }

  /** Hands the deliveries that this process publishes to these lanes from now on. @returns a function that ends it. */
  handOverTo(begin: () => Handover): () => void {
    this.#beginHandover = begin;
    return () => {
      this.#beginHandover = undefined;
    };
  }

  /** Call this before a publication; undefined if no lanes take its deliveries. */
  beginHandover(): Handover | undefined {
    return this.#beginHandover?.();
  }

  /** Call this after the commit. */
  committed(work: OutboxWork): void {
    this.#wake(work);
    if (this.#pending !== 'COMMANDS') this.#pending = work;
    if (!this.#isNotifying) void this.#notifyOthers();
  }

  /**
   * Calls `poll` at once, on each signal and after each `pollMs` until it finds work; undefined when the time is up or the
   * caller aborts. Does not poll once the time is up, because a caller that calls again polls at once.
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
      if (remainingMs <= pollMs && this.#versions[wait.work] === seen) break;
    }
    return undefined;
  }

  /** Calls `wake` on each signal, until the returned function is called. */
  subscribe(work: OutboxWork, wake: () => void): () => void {
    this.#emitter.on(work, wake);
    this.#startWaiting(work);
    return () => {
      this.#emitter.off(work, wake);
      this.#stopWaiting();
    };
  }

  /** Wakes the callers of this process that wait for such work. */
  #wake(work: OutboxWork): void {
    const kinds: readonly OutboxWork[] = work === 'EVENTS' ? ['EVENTS'] : ['EVENTS', 'COMMANDS'];
    for (const kind of kinds) {
      this.#versions[kind] += 1;
      this.#emitter.emit(kind);
    }
  }

  async #notifyOthers(): Promise<void> {
    this.#isNotifying = true;
    // Commits of the same turn of the event loop are announced together.
    await new Promise(setImmediate);
    while (this.#pending !== undefined) {
      void this.#notify();
      await delay(NOTIFY_INTERVAL_MS);
    }
    this.#isNotifying = false;
  }

  async #notify(): Promise<void> {
    const channel = this.#pending === 'EVENTS' ? EVENTS_CHANNEL : OUTBOX_CHANNEL;
    const payload = `${this.#sender} ${this.#pending}`;
    this.#pending = undefined;
    try {
      const connection = await this.#database.connect();
      await connection.query(`notify ${channel}, '${payload}'`).finally(() => connection.release());
    } catch {
      // The next poll finds the work.
    }
  }

  /** Resolves on the first signal after version `seen`, after the timeout, or when the caller aborts. */
  async #wait(seen: number, timeoutMs: number, { work, signal }: WorkWait): Promise<void> {
    if (this.#versions[work] !== seen || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const onAbort = () => resolve();
    const unsubscribe = this.subscribe(work, resolve);
    const timeout = setTimeout(resolve, timeoutMs);
    signal.addEventListener('abort', onAbort);
    await promise;
    signal.removeEventListener('abort', onAbort);
    clearTimeout(timeout);
    unsubscribe();
  }

  #startWaiting(work: OutboxWork): void {
    this.#waiting += 1;
    clearTimeout(this.#linger);
    if (work === 'EVENTS' && !this.#channels.has(EVENTS_CHANNEL)) {
      this.#channels.add(EVENTS_CHANNEL);
      void this.#connection
        ?.then((connection) => connection?.query(`listen ${EVENTS_CHANNEL}`))
        .catch((error: unknown) => this.#reconnect(error));
    }
    this.#connection ??= this.#listen();
  }

  #stopWaiting(): void {
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#linger = setTimeout(() => this.#stopListening(), LINGER_MS).unref();
  }

  async #listen(): Promise<PoolClient | undefined> {
    let connection: PoolClient | undefined;
    try {
      connection = await this.#database.connect();
      connection.on('notification', ({ payload = '' }) => this.#onNotification(payload));
      connection.on('error', (error) => this.#reconnect(error));
      await connection.query([...this.#channels].map((channel) => `listen ${channel}`).join('; '));
      this.#isOutageLogged = false;
      void pingUntilEnd(connection, this.#database.maxSilenceMs / 3);
      return connection;
    } catch (error) {
      connection?.release(true);
      this.#reconnect(error);
      return undefined;
    }
  }

  /** Ignores those sent by this process, which has handled them already. */
  #onNotification(payload: string): void {
    const [sender, work] = payload.split(' ');
    if (sender !== this.#sender) this.#wake(work === 'EVENTS' ? 'EVENTS' : 'COMMANDS');
  }

  /** Reconnects after a delay, if callers still wait then. */
  #reconnect(error: unknown): void {
    if (!this.#isOutageLogged)
      this.#logger.warn({ err: error }, 'listening for work failed; falling back to polling');
    this.#isOutageLogged = true;
    const failed = this.#connection;
    setTimeout(() => {
      void failed?.then((connection) => connection?.release(true)).catch(() => undefined);
      if (this.#connection === failed) this.#connection = this.#waiting > 0 ? this.#listen() : undefined;
    }, RECONNECT_MS).unref();
  }

  #stopListening(): void {
    const stopped = this.#connection;
    this.#connection = undefined;
    void stopped?.then((connection) => connection?.release(true)).catch(() => undefined);
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
