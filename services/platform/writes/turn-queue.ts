/** Ends a turn: the next call on the subject takes its own. */
export type EndTurn = () => void;

/**
 * Lets one call of this process at a time write to a subject, such as an account, in the order of arrival. Calls wait in
 * memory, without a database connection, so the calls on one subject never exhaust the pool.
 */
export class TurnQueue {
  /** What starts each waiting call, by subject on which a call is running. */
  readonly #waiting = new Map<string, Set<() => void>>();

  /**
   * Waits for a turn at a subject; the caller must end it. Rejects with the signal's reason, and leaves the queue, once
   * the signal aborts.
   */
  enter(subject: string, signal: AbortSignal): Promise<EndTurn> {
    const { promise, resolve, reject } = Promise.withResolvers<EndTurn>();
    const waiting = this.#waiting.get(subject);
    const endTurn = () => this.#startNext(subject);
    if (signal.aborted) reject(signal.reason);
    else if (waiting === undefined) {
      this.#waiting.set(subject, new Set());
      resolve(endTurn);
    } else {
      const leave = () => {
        waiting.delete(start);
        reject(signal.reason);
      };
      const start = () => {
        signal.removeEventListener('abort', leave);
        resolve(endTurn);
      };
      signal.addEventListener('abort', leave, { once: true });
      waiting.add(start);
    }
    return promise;
  }

  #startNext(subject: string): void {
    const waiting = this.#waiting.get(subject)!;
    const [next] = waiting;
    if (next === undefined) this.#waiting.delete(subject);
    else {
      waiting.delete(next);
      next();
    }
  }
}
