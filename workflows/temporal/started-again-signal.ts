/** Sent to a running workflow that is started again, so that it checks for new work before it completes. */
export const STARTED_AGAIN_SIGNAL = 'startedAgain';
