import { defaultPayloadConverter, type Headers } from '@temporalio/common';

/** The request that caused a workflow and the merchant it concerns; logs and calls of activities carry them. */
export interface WorkflowCause {
  readonly requestId: string;
  readonly merchantId: string;
  readonly environment: string;
}

/** The key in the memo of a workflow, and in the headers of what it schedules. */
const CAUSE = 'cause';

export const causedBy = ({ requestId, merchantId, environment }: WorkflowCause) => ({
  [CAUSE]: { requestId, merchantId, environment },
});

/** The cause in a workflow's memo; undefined if no command started it, for example if a Schedule did. */
export const causeInMemo = (memo: Record<string, unknown> | undefined): WorkflowCause | undefined =>
  memo?.[CAUSE] as WorkflowCause | undefined;

export const withCause = (headers: Headers, cause: WorkflowCause | undefined): Headers =>
  cause ? { ...headers, [CAUSE]: defaultPayloadConverter.toPayload(cause) } : headers;

/** The cause in the headers, if any. */
export function causeInHeaders({ [CAUSE]: payload }: Headers): WorkflowCause | undefined {
  return payload && defaultPayloadConverter.fromPayload<WorkflowCause>(payload);
}
