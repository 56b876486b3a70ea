import type { Logger } from 'pino';
import { countDispatchErrors } from './webhooks/dispatch-metrics.ts';

/**
 * Waits until Temporal has taken or refused all of it; what it does not take comes again, and holds up nothing else.
 * @returns whether there was any, and Temporal took all of it.
 */
export async function settleHandover(logger: Logger, work: readonly Promise<unknown>[]): Promise<boolean> {
  const results = await Promise.allSettled(work);
  const refused = results.filter((result) => result.status === 'rejected');
  countDispatchErrors('HAND_OVER', refused.length);
  for (const { reason } of refused) logger.error({ err: reason }, 'Temporal did not take some work');
  return results.length > 0 && refused.length === 0;
}
