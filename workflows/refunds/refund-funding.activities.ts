import { RefundCaseStatus } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { errorInfoOf } from '../../services/platform/errors.ts';
import {
  type AccountInput,
  CALL,
  type CaseInput,
  type RefundClients,
  readCase,
  requestOf,
  tenantOf,
} from './refund-clients.ts';

/** The activities that have waiting refunds executed. */
export function createFundingActivities(clients: RefundClients) {
  const { refunds, funds } = clients;
  return {
    /** The oldest waiting refund of the account that its balance covers, or null. */
    async findCoveredRefund(input: AccountInput): Promise<string | null> {
      const { refundCaseId } = await funds.findCoveredRefund(tenantOf(input), CALL);
      return refundCaseId ?? null;
    },

    /**
     * Starts the execution of a refund that waits for the balance; one that does not, or that is blocked otherwise,
     * waits no more. Fails, to be tried again, while the case is executing: how that ends is not recorded yet.
     */
    async startWaitingRefund(input: CaseInput): Promise<'STARTED' | 'NOT_WAITING'> {
      const { status, executionStartedAt, executions } = await readCase(clients, input);
      if (executionStartedAt) throw new Error('the refund is executing');
      const idempotencyKey = `refund-funding-${input.refundCaseId}-${executions}`;
      if (status === RefundCaseStatus.FUNDING_REQUIRED) {
        try {
          await refunds.startRefund({ ...requestOf(input), idempotencyKey }, CALL);
          return 'STARTED';
        } catch (error) {
          const reason = errorInfoOf(error)?.reason;
          if (reason === 'REFUND_EXECUTION_STARTED' || reason === 'REFUND_CASE_STATE') {
            throw new Error('the refund has changed meanwhile');
          }
          if (reason !== 'REFUND_CASE_BLOCKED') throw error;
        }
      }
      await funds.endFundingWait({ ...requestOf(input), idempotencyKey, execution: executions }, CALL);
      return 'NOT_WAITING';
    },

    /** Fails, to be tried again, until the execution of a case has ended. */
    async awaitExecution(input: CaseInput): Promise<void> {
      const { executionStartedAt } = await readCase(clients, input);
      if (executionStartedAt) throw new Error('the refund is executing');
    },
  };
}
