import { Code, ConnectError } from '@connectrpc/connect';
import { ApplicationFailure } from '@temporalio/common';
import { errorInfoOf } from '../services/platform/rpc/connect-errors.ts';

/** What a service refuses for what was asked or for the state it is in: asking again is answered the same. */
const REFUSALS: ReadonlySet<Code> = new Set([
  Code.InvalidArgument,
  Code.NotFound,
  Code.AlreadyExists,
  Code.FailedPrecondition,
  Code.OutOfRange,
]);

type Activity = (...args: never[]) => Promise<unknown>;

/**
 * Activities whose failure is final when a service has refused what they asked, typed by the refusal's reason; any
 * other failure goes on being retried.
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
