import {
  isCancellation,
  proxySinks,
  TemporalFailure,
  type WorkflowExecuteInput,
  type WorkflowInboundCallsInterceptor,
  type WorkflowInterceptors,
} from '@temporalio/workflow';
import type { FailureSinks } from './workflow-failures.ts';

const { failures } = proxySinks<FailureSinks>();

/** Counts workflows that fail. Any other error than a TemporalFailure fails the workflow task, which is retried. */
class CountFailures implements WorkflowInboundCallsInterceptor {
  async execute(
    input: WorkflowExecuteInput,
    next: (input: WorkflowExecuteInput) => Promise<unknown>,
  ): Promise<unknown> {
    try {
      return await next(input);
    } catch (error) {
      if (error instanceof TemporalFailure && !isCancellation(error)) failures.count();
      throw error;
    }
  }
}

/** Called by the SDK for each workflow. */
export const interceptors = (): WorkflowInterceptors => ({ inbound: [new CountFailures()] });
