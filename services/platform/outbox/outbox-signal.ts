import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { Database } from '../database/database.ts';

/** What a commit added to the outbox: only events, or also commands. */
export type OutboxWork = 'EVENTS' | 'COMMANDS';

export const OUTBOX_CHANNEL = 'payments_outbox';
const NOTIFY_INTERVAL_MS = 10;

/**
 * Signals that a commit added work to the outbox: immediately within this process, and to other processes by NOTIFY on a
 * separate connection, at most once per 10 ms. A lost notification delays work until the next poll, but never loses it.
 */
export class OutboxSignal {
  readonly #emitter = new EventEmitter().setMaxListeners(0);
  readonly #database: Database;
  /** Identifies this process in notifications. */
  readonly #sender = randomUUID();
  #pending: OutboxWork | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Call this after the commit. */
  committed(work: OutboxWork): void {
    this.#emitter.emit('work', work);
    if (this.#pending === undefined) setTimeout(() => void this.#notify(), NOTIFY_INTERVAL_MS);
    if (this.#pending !== 'COMMANDS') this.#pending = work;
  }

  /** Parses a notification; undefined for those sent by this process, which has handled them already. */
  parseNotification(payload: string): OutboxWork | undefined {
    const [sender, work] = payload.split(' ');
    if (sender === this.#sender) return undefined;
    return work === 'EVENTS' ? 'EVENTS' : 'COMMANDS';
  }

  /** Calls the listener whenever this process commits to the outbox; returns a function that unsubscribes. */
  onWork(listener: (work: OutboxWork) => void): () => void {
    this.#emitter.on('work', listener);
    return () => this.#emitter.off('work', listener);
  }

  async #notify(): Promise<void> {
    const payload = `${this.#sender} ${this.#pending}`;
    this.#pending = undefined;
    try {
      const connection = await this.#database.connect();
      await connection.query(`notify ${OUTBOX_CHANNEL}, '${payload}'`).finally(() => connection.release());
    } catch {
      // The next poll finds the work.
    }
  }
}
