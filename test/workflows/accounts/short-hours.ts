import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';

const FASTER = 1_800;

/** Lets the timers of workflows go so much faster: an hour takes two seconds. */
export const interceptors: WorkflowInterceptorsFactory = () => ({
  inbound: [],
  outbound: [
    { startTimer: (input, next) => next({ ...input, durationMs: Math.ceil(input.durationMs / FASTER) }) },
  ],
});
