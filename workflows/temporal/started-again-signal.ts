/** Sent to a workflow that runs when it is started again, so that it checks for new work before it completes. */
export const STARTED_AGAIN_SIGNAL = 'startedAgain';
