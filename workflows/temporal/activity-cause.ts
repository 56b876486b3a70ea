import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { type TracedWork, traceFor } from '../../services/platform/tracing/tracing.ts';
import { causeInHeaders, type WorkflowCause } from './workflow-cause.ts';

const causes = new WeakMap<Context, WorkflowCause>();

/** Keeps the cause of an activity's workflow for its calls, its log lines and its trace. */
export const keepActivityCause: ActivityInterceptorsFactory = (context) => ({
  inbound: {
    execute(input, next) {
      const cause = causeInHeaders(input.headers);
      if (!cause) return next(input);
      causes.set(context, cause);
      return traceFor(cause.requestId, tracedActivity(context), () => next(input));
    },
  },
  outbound: {
    getLogAttributes: (input, next) => next({ ...input, ...causes.get(context) }),
  },
});

/**
 * The cause of the current activity's workflow; undefined outside an activity, and if no command started the
 * workflow.
 */
export function causeOfActivity(): WorkflowCause | undefined {
  const context = asyncLocalStorage.getStore();
  return context && causes.get(context);
}

function tracedActivity({ info }: Context): TracedWork {
  const { activityType, attempt, workflowExecution } = info;
  return {
    name: `activity ${activityType}`,
    attributes: {
      ...(workflowExecution && { 'temporal.workflow.id': workflowExecution.workflowId }),
      'temporal.activity.attempt': attempt,
    },
    // A benign failure only schedules the next try, so it is not a failure of the trace.
    isFailure: (error) =>
      !(error instanceof ApplicationFailure && error.category === ApplicationFailureCategory.BENIGN) ||
      error.nonRetryable === true,
  };
}
