import { Code } from '@connectrpc/connect';
import { countOverloads } from '../process/overload.ts';
import { callError } from './connect-errors.ts';

/**
 * Bounds how many unary calls a process runs at once. Without a bound, callers that send more than it can do fill its
 * memory with calls that they have given up by the time they are answered. Refusing a call costs little, so those that
 * are accepted take no longer than usual.
 */
export class CallLimit {
  readonly #most: number;
  readonly #countRefusal = countOverloads('internal');
  #running = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** UNAVAILABLE with the reason OVERLOADED: the call has not been made, and may be repeated after a while. */
  async run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#most) {
      this.#countRefusal();
      throw callError(Code.Unavailable, 'OVERLOADED', 'too many calls are running: wait, then try again');
    }
    this.#running += 1;
    try {
      return await call();
    } finally {
      this.#running -= 1;
    }
  }
}
