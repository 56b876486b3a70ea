import {
  type ActivityInput,
  type ContinueAsNewInput,
  type GetLogAttributesInput,
  type LocalActivityInput,
  type Next,
  type WorkflowExecuteInput,
  type WorkflowInboundCallsInterceptor,
  type WorkflowInterceptors,
  type WorkflowOutboundCallsInterceptor,
  workflowInfo,
} from '@temporalio/workflow';
import { causeInHeaders, causeInMemo, type WorkflowCause, withCause } from './workflow-cause.ts';

type Outbound = WorkflowOutboundCallsInterceptor;

/** Passes the cause of a workflow on to its activities, its next run and its log lines. */
class CarryCause implements WorkflowInboundCallsInterceptor, WorkflowOutboundCallsInterceptor {
  #cause: WorkflowCause | undefined;

  execute(input: WorkflowExecuteInput, next: Next<WorkflowInboundCallsInterceptor, 'execute'>) {
    this.#cause = causeInHeaders(input.headers) ?? causeInMemo(workflowInfo().memo);
    return next(input);
  }

  scheduleActivity(input: ActivityInput, next: Next<Outbound, 'scheduleActivity'>) {
    return next({ ...input, headers: withCause(input.headers, this.#cause) });
  }

  scheduleLocalActivity(input: LocalActivityInput, next: Next<Outbound, 'scheduleLocalActivity'>) {
    return next({ ...input, headers: withCause(input.headers, this.#cause) });
  }

  continueAsNew(input: ContinueAsNewInput, next: Next<Outbound, 'continueAsNew'>) {
    return next({ ...input, headers: withCause(input.headers, this.#cause) });
  }

  getLogAttributes(input: GetLogAttributesInput, next: Next<Outbound, 'getLogAttributes'>) {
    return next({ ...input, ...this.#cause });
  }
}

/** Called by the SDK for each workflow. */
export function interceptors(): WorkflowInterceptors {
  const carry = new CarryCause();
  return { inbound: [carry], outbound: [carry] };
}
