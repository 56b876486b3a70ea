/** The task queue of all workflows and activities. */
export const TASK_QUEUE = 'payments';
