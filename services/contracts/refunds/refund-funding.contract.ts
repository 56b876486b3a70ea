import type { StartWorkflow } from '../../platform/outbox/workflow-command.ts';
import type { Tenant } from '../../platform/tenant.ts';
import { startWorkflow } from '../start-workflow.ts';

export const workflowType = 'executeFundedRefunds';

export const workflowId = (id: string) => `refund-funding-${id}`;

export interface ExecuteFundedRefundsInput extends Tenant {
  /** A case to try first, whatever the balance, because its last other blocker was cleared. */
  readonly refundCaseId?: string;
}

/**
 * Starts the execution of a case whose last other blocker was cleared, and of the account's covered refunds.
 * @param wakeUpId a new id: each wake-up runs as a workflow of its own.
 */
export const startCommand = (wakeUpId: string, input: Required<ExecuteFundedRefundsInput>) =>
  startWorkflow(workflowType, workflowId(wakeUpId), input);

/**
 * Starts the execution of the account's covered refunds, of which this execution of a case is the first. Until it is debited,
 * every commit of the account starts it: the workflows must not be as many as the commits.
 */
export const startCoveredCommand = (
  { refundCaseId, execution }: { readonly refundCaseId: string; readonly execution: number },
  { merchantId, environment }: Tenant,
): StartWorkflow => ({
  ...startWorkflow(workflowType, workflowId(`${refundCaseId}-${execution}`), { merchantId, environment }),
  replacesEarlier: true,
});
