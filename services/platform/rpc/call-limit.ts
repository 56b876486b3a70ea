import { Code, type Interceptor } from '@connectrpc/connect';
import { countOverloads } from '../process/overload.ts';
import { callError } from './connect-errors.ts';

/** Runs a call. UNAVAILABLE (OVERLOADED) at the limit: the call was not made and may be repeated after a while. */
export type CallLimit = <T>(call: () => Promise<T>) => Promise<T>;

/**
 * Limits how many unary calls a process runs at once. Without a limit, callers that send more than it can handle fill
 * its memory with calls that they no longer wait for. Refusing a call costs little.
 */
export function createCallLimit(maxConcurrent: number): CallLimit {
  const countRefusal = countOverloads('internal');
  let running = 0;
  return async (call) => {
    if (running >= maxConcurrent) {
      countRefusal();
      throw callError(Code.Unavailable, 'OVERLOADED', 'too many calls are running: wait, then try again');
    }
    running += 1;
    try {
      return await call();
    } finally {
      running -= 1;
    }
  };
}

/** Applies a limit to unary calls. Streams pass: they last as long as their caller listens. */
export const limitCalls =
  (limit: CallLimit): Interceptor =>
  (next) =>
  (request) =>
    request.stream ? next(request) : limit(() => next(request));
