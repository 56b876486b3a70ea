import { ApplicationFailureCategory } from '@temporalio/common';
import {
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  proxySinks,
  TemporalFailure,
  type WorkflowExecuteInput,
  type WorkflowInboundCallsInterceptor,
  type WorkflowInterceptors,
} from '@temporalio/workflow';
import type { FailureSinks } from './workflow-failures.ts';

const { failures } = proxySinks<FailureSinks>();

/**
 * Counts workflows that fail, unless an activity has failed as expected, such as that of an exhausted delivery. Any other
 * error than a TemporalFailure fails the workflow task, which is retried.
 */
class CountFailures implements WorkflowInboundCallsInterceptor {
  async execute(
    input: WorkflowExecuteInput,
    next: (input: WorkflowExecuteInput) => Promise<unknown>,
  ): Promise<unknown> {
    try {
      return await next(input);
    } catch (error) {
      if (error instanceof TemporalFailure && !isCancellation(error) && !isExpected(error)) failures.count();
      throw error;
    }
  }
}

const isExpected = (error: TemporalFailure) =>
  error instanceof ActivityFailure &&
  error.cause instanceof ApplicationFailure &&
  error.cause.category === ApplicationFailureCategory.BENIGN;

/** Called by the SDK for each workflow. */
export const interceptors = (): WorkflowInterceptors => ({ inbound: [new CountFailures()] });
