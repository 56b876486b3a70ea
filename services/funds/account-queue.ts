/** Ends a turn: the next call on the account takes its own. */
export type EndTurn = () => void;

/**
 * Lets one call of this process at a time write to an account, in the order of arrival. Calls wait in memory, without a
 * database connection, so the calls on one account never exhaust the pool.
 */
export class AccountQueue {
  /** What starts each waiting call, by account on which a call is running. */
  readonly #waiting = new Map<string, Set<() => void>>();

  /**
   * Waits for a turn at an account; the caller must end it. Rejects with the signal's reason, and leaves the queue, once
   * the signal aborts.
   */
  enter(account: string, signal: AbortSignal): Promise<EndTurn> {
    const { promise, resolve, reject } = Promise.withResolvers<EndTurn>();
    const waiting = this.#waiting.get(account);
    const endTurn = () => this.#startNext(account);
    if (signal.aborted) reject(signal.reason);
    else if (waiting === undefined) {
      this.#waiting.set(account, new Set());
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

  #startNext(account: string): void {
    const waiting = this.#waiting.get(account)!;
    const [next] = waiting;
    if (next === undefined) this.#waiting.delete(account);
    else {
      waiting.delete(next);
      next();
    }
  }
}
