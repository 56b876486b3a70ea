import { defaultPayloadConverter, type Headers } from '@temporalio/common';

/** The request that caused a workflow, and whose data it is about: logs and the calls of activities carry them. */
export interface WorkflowCause {
  readonly requestId: string;
  readonly merchantId: string;
  readonly environment: string;
}

/** In the memo of a workflow, and in the headers of what it schedules. */
const CAUSE = 'cause';

/** Notes in the workflow's memo what caused it. */
export const causedBy = ({ requestId, merchantId, environment }: WorkflowCause) => ({
  [CAUSE]: { requestId, merchantId, environment },
});

/** What caused the workflow; undefined for one that no command started, as by a Schedule. */
export const causeInMemo = (memo: Record<string, unknown> | undefined): WorkflowCause | undefined =>
  memo?.[CAUSE] as WorkflowCause | undefined;

/** Headers with the cause added. */
export const withCause = (headers: Headers, cause: WorkflowCause | undefined): Headers =>
  cause ? { ...headers, [CAUSE]: defaultPayloadConverter.toPayload(cause) } : headers;

/** The cause in the headers, if any. */
export function causeInHeaders({ [CAUSE]: payload }: Headers): WorkflowCause | undefined {
  return payload && defaultPayloadConverter.fromPayload<WorkflowCause>(payload);
}
