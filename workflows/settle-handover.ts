import type { Logger } from 'pino';
import { countCommandErrors } from './relay/relay-metrics.ts';

/**
 * Waits until Temporal has accepted or refused each piece of work. What it refuses is logged, counted and claimed again
 * later; it holds up nothing else.
 * @returns whether there was any work, and Temporal accepted all of it.
 */
export async function settleHandover(logger: Logger, work: readonly Promise<unknown>[]): Promise<boolean> {
  const results = await Promise.allSettled(work);
  const refused = results.filter((result) => result.status === 'rejected');
  countCommandErrors('HAND_OVER', refused.length);
  for (const { reason } of refused) logger.error({ err: reason }, 'Temporal did not accept some work');
  return results.length > 0 && refused.length === 0;
}
