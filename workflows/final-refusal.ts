import { Code, ConnectError } from '@connectrpc/connect';
import { ApplicationFailure } from '@temporalio/common';
import { errorInfoOf } from '../services/platform/rpc/connect-errors.ts';

/** Codes of refusals caused by the request or the current state: retrying the call gets the same answer. */
export const REFUSALS: ReadonlySet<Code> = new Set([
  Code.InvalidArgument,
  Code.NotFound,
  Code.AlreadyExists,
  Code.FailedPrecondition,
  Code.OutOfRange,
]);

type Activity = (...args: never[]) => Promise<unknown>;

/**
 * Makes activities fail without retries when a service refuses their call, with the refusal's reason as the failure
 * type. Other failures are retried.
 */
export function withFinalRefusals<Activities extends Record<string, Activity>>(
  activities: Activities,
): Activities {
  const wrapped = Object.entries(activities).map(([name, activity]) => [name, finalOnRefusal(activity)]);
  return Object.fromEntries(wrapped) as Activities;
}

function finalOnRefusal(activity: Activity): Activity {
  return async (...args) => {
    try {
      return await activity(...args);
    } catch (error) {
      if (!(error instanceof ConnectError) || !REFUSALS.has(error.code)) throw error;
      throw ApplicationFailure.nonRetryable(error.rawMessage, errorInfoOf(error)?.reason ?? Code[error.code]);
    }
  };
}
