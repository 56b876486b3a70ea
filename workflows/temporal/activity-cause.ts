import { asyncLocalStorage, type Context } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { causeInHeaders, type WorkflowCause } from './workflow-cause.ts';

const causes = new WeakMap<Context, WorkflowCause>();

/** Keeps what caused the workflow of an activity, for its calls and its log lines. */
export const keepActivityCause: ActivityInterceptorsFactory = (context) => ({
  inbound: {
    execute(input, next) {
      const cause = causeInHeaders(input.headers);
      if (cause) causes.set(context, cause);
      return next(input);
    },
  },
  outbound: {
    getLogAttributes: (input, next) => next({ ...input, ...causes.get(context) }),
  },
});

/** What caused the workflow of the activity that runs; undefined outside one, and if no command started the workflow. */
export function causeOfActivity(): WorkflowCause | undefined {
  const context = asyncLocalStorage.getStore();
  return context && causes.get(context);
}
