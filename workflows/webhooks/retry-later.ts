import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';

/**
 * Fails an activity that is not done yet, so that Temporal retries it after exactly `delayMs`. The Temporal UI shows the
 * status message in the meantime.
 */
export function retryLater(statusMessage: string, delayMs: number): ApplicationFailure {
  const failure = ApplicationFailure.create({
    message: statusMessage,
    type: 'RETRY_LATER',
    nextRetryDelay: Math.max(Math.ceil(delayMs), 1),
    // Expected, so the SDK does not log it.
    category: ApplicationFailureCategory.BENIGN,
  });
  // A stack trace would only hide the message in the UI.
  failure.stack = '';
  return failure;
}
