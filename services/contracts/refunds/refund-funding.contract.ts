import type { StartWorkflow } from '../../platform/outbox/workflow-command.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';

export const workflowType = 'executeFundedRefunds';

/** Each wake-up has its own workflow, so none is lost to a run that is about to end. */
export const workflowId = (id: string) => `refund-funding-${id}`;

export interface ExecuteFundedRefundsInput {
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  /** A case to try first, whatever the balance, because its last other blocker was cleared. */
  readonly refundCaseId?: string;
}

/** A refund that is or was waiting for the balance. */
export interface WaitingRefund {
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  readonly refundCaseId: string;
}

/** @param wakeUpId a new id: each wake-up runs as a workflow of its own. */
export const startCommand = (wakeUpId: string, input: ExecuteFundedRefundsInput): StartWorkflow => ({
  kind: 'START',
  workflowId: workflowId(wakeUpId),
  workflowType,
  arguments: [input],
});
