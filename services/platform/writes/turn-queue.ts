/** Ends a turn: the next call on the subject takes its own. */
export type EndTurn = () => void;

interface Subject {
  running: number;
  /** What starts each waiting call. */
  readonly waiting: Set<() => void>;
}

/**
 * Lets one call of this process at a time, or a few, write to a subject, such as an account, in the order of arrival. Calls
 * wait in memory, without a database connection, so the calls on one subject never exhaust the pool.
 */
export class TurnQueue {
  readonly #atOnce: number;
  /** Those on which a call is running. */
  readonly #subjects = new Map<string, Subject>();

  /** @param atOnce how many calls on one subject run at the same time. */
  constructor(atOnce = 1) {
    this.#atOnce = atOnce;
  }

  /** Takes a turn at a subject if one is free; the caller must end it. */
  tryEnter(name: string): EndTurn | undefined {
    const subject = this.#subjects.get(name) ?? { running: 0, waiting: new Set() };
    if (subject.running === this.#atOnce) return undefined;
    subject.running += 1;
    this.#subjects.set(name, subject);
    return () => this.#endTurn(name, subject);
  }

  /**
   * Waits for a turn at a subject; the caller must end it. Rejects with the signal's reason, and leaves the queue, once
   * the signal aborts.
   */
  async enter(name: string, signal: AbortSignal): Promise<EndTurn> {
    signal.throwIfAborted();
    const free = this.tryEnter(name);
    if (free) return free;
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
