import type { Tenant } from '../../platform/tenant.ts';
import { startWorkflow } from '../start-workflow.ts';

export const workflowType = 'executeFundedRefunds';

/** Each wake-up has its own workflow, so none is lost to a run that is about to end. */
export const workflowId = (id: string) => `refund-funding-${id}`;

export interface ExecuteFundedRefundsInput extends Tenant {
  /** A case to try first, whatever the balance, because its last other blocker was cleared. */
  readonly refundCaseId?: string;
}

/** @param wakeUpId a new id: each wake-up runs as a workflow of its own. */
export const startCommand = (wakeUpId: string, input: ExecuteFundedRefundsInput) =>
  startWorkflow(workflowType, workflowId(wakeUpId), input);
