import { Code, ConnectError } from '@connectrpc/connect';
import { isLockTimeout } from '../database/database-errors.ts';

export interface TurnQueueOptions {
  /** How many calls on one subject run at the same time. */
  readonly atOnce: number;
  /** How long a call waits for its turns. */
  readonly maxWaitMs: number;
  /** The error of a call that has waited for so long. */
  readonly onTimeout: () => Error | Promise<Error>;
}

interface Subject {
  running: number;
  /** Starts each waiting call. */
  readonly waiting: Set<() => void>;
}

/** When a call stops waiting: at the timeout, or when its caller does. */
interface Deadline {
  readonly signal: AbortSignal;
  readonly caller: AbortSignal;
}

type EndTurn = () => void;

/**
 * Lets one call of this process at a time, or a few, write to a subject, such as an account, in the order of arrival. Calls
 * wait in memory, without a database connection, so the calls on one subject never exhaust the pool.
 */
export class TurnQueue {
  readonly #options: TurnQueueOptions;
  /** The subjects with a running call. */
  readonly #subjects = new Map<string, Subject>();

  constructor(options: TurnQueueOptions) {
    this.#options = options;
  }

  /** Runs a call in its turn. CANCELED once `caller` aborts; the error of `onTimeout`. */
  async run<T>(name: string, caller: AbortSignal, call: () => Promise<T>): Promise<T> {
    const free = caller.aborted ? undefined : this.#tryEnter(name);
    const endTurn = free ?? (await this.#enter(name, this.#deadlineOf(caller)));
    try {
      return await call();
    } finally {
      endTurn();
    }
  }

  /**
   * Like `run`. A call that fails with a lock timeout, because another process holds the lock, releases its connection and
   * queues again.
   */
  async runWithLockRetries<T>(name: string, caller: AbortSignal, call: () => Promise<T>): Promise<T> {
    const deadline = this.#deadlineOf(caller);
    for (;;) {
      const endTurn = await this.#enter(name, deadline);
      try {
        return await call();
      } catch (error) {
        if (!isLockTimeout(error)) throw error;
      } finally {
        endTurn();
      }
    }
  }

  #deadlineOf(caller: AbortSignal): Deadline {
    const timeout = AbortSignal.timeout(this.#options.maxWaitMs);
    return { signal: AbortSignal.any([caller, timeout]), caller };
  }

  #tryEnter(name: string): EndTurn | undefined {
    const subject = this.#subjects.get(name) ?? { running: 0, waiting: new Set() };
    if (subject.running === this.#options.atOnce) return undefined;
    subject.running += 1;
    this.#subjects.set(name, subject);
    return () => this.#endTurn(name, subject);
  }

  async #enter(name: string, { signal, caller }: Deadline): Promise<EndTurn> {
    try {
      signal.throwIfAborted();
      return this.#tryEnter(name) ?? (await this.#waitAt(name, signal));
    } catch {
      throw caller.aborted
        ? ConnectError.from(caller.reason, Code.Canceled)
        : await this.#options.onTimeout();
    }
  }

  #waitAt(name: string, signal: AbortSignal): Promise<EndTurn> {
    const subject = this.#subjects.get(name)!;
    const { promise, resolve, reject } = Promise.withResolvers<EndTurn>();
    const leave = () => {
      subject.waiting.delete(start);
      reject(signal.reason);
    };
    const start = () => {
      signal.removeEventListener('abort', leave);
      resolve(() => this.#endTurn(name, subject));
    };
    signal.addEventListener('abort', leave, { once: true });
    subject.waiting.add(start);
    return promise;
  }

  #endTurn(name: string, subject: Subject): void {
    const [next] = subject.waiting;
    if (next) {
      subject.waiting.delete(next);
      next();
      return;
    }
    subject.running -= 1;
    if (subject.running === 0) this.#subjects.delete(name);
  }
}
