import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';

/**
 * The failure of an activity that is not done yet: Temporal waits for exactly this long, and people read the story in
 * the meantime.
 */
export function retryLater(story: string, delayMs: number): ApplicationFailure {
  const failure = ApplicationFailure.create({
    message: story,
    type: 'RETRY_LATER',
    nextRetryDelay: Math.max(Math.ceil(delayMs), 1),
    // Nothing is wrong with us: not to be logged.
    category: ApplicationFailureCategory.BENIGN,
  });
  // Where our code was stands in the way of what is told.
  failure.stack = '';
  return failure;
}
