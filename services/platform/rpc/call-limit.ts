import { Code } from '@connectrpc/connect';
import { Counter } from 'prom-client';
import { metrics } from '../process/telemetry.ts';
import { callError } from './connect-errors.ts';

const refused = new Counter({
  name: 'payments_rpc_overload_refusals_total',
  help: 'Calls on the internal port that were refused because as many as a process accepts were running.',
  registers: [metrics],
});

/**
 * Bounds how many unary calls a process runs at once. Without a bound, callers that send more than it can do fill its
 * memory with calls that they have given up by the time they are answered. Refusing a call costs little, so those that
 * are accepted take no longer than usual.
 */
export class CallLimit {
  readonly #most: number;
  #running = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** UNAVAILABLE with the reason OVERLOADED: the call has not been made, and may be repeated after a while. */
  async run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#most) {
      refused.inc();
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
