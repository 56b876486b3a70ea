import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import { type RetryState, readRetryState } from './retry-state.ts';

/** The owner of the lane reads the change. With `now`, the attempt is due whatever its time. */
const REQUEST: Statement = {
  name: 'request_attempt',
  text: `
update webhooks.open_delivery
   set requested = true, next_attempt_at = least(next_attempt_at, now()), changed_xid = pg_current_xact_id()
 where id = :id and status = 'RETRYING' and (:now::boolean or next_attempt_at <= now())
   and in_flight_until is null and not requested`,
};

/** The number of the requested attempt, undefined if none is due, and the state of the delivery. */
export interface RequestedAttempt {
  readonly attemptNumber: number | undefined;
  readonly state: RetryState;
}

/** Requests the next attempt, if it is due. */
export async function requestAttempt(
  { run }: CrossTenantDatabase,
  id: string,
  now: boolean,
): Promise<RequestedAttempt> {
  await run(REQUEST, { id, now });
  const state = await readRetryState(run, id);
  return { attemptNumber: state.requested ? state.attemptCount + 1 : undefined, state };
}
