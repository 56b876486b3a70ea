import { randomUUID } from 'node:crypto';
import { type RefundCase, RefundCaseStatus } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { RefundCaseKey } from '../../services/contracts/refunds/refund-case-key.ts';
import { errorInfoOf, unlessRefused } from '../../services/platform/rpc/connect-errors.ts';
import { type Tenant, tenantFields } from '../../services/platform/tenant.ts';
import { caseFields, isClosed, type RefundClients, readCase } from './refund-clients.ts';

/** The largest int32: covers every execution of a case. */
const ANY_EXECUTION = 2_147_483_647;

/** A refund that the balance covers, and its execution that waits. */
export interface CoveredRefund {
  readonly refundCaseId: string;
  readonly execution: number;
}

/** The activities that execute refunds waiting for the balance. */
export function createFundingActivities(clients: RefundClients) {
  const { refunds, funds } = clients;

  /** The case, or null when it does not exist. */
  const findCase = (input: RefundCaseKey): Promise<RefundCase | null> =>
    unlessRefused(readCase(clients, input), { REFUND_CASE_NOT_FOUND: null });

  /** Uses a new idempotency key each time, because the same execution may have been queued again since. */
  async function endWait(input: RefundCaseKey, execution: number): Promise<void> {
    await funds.endFundingWait({ ...caseFields(input), idempotencyKey: randomUUID(), execution });
  }

  async function endExecutions(input: RefundCaseKey): Promise<void> {
    const ended = { ...caseFields(input), idempotencyKey: randomUUID(), execution: ANY_EXECUTION };
    await funds.endRefundExecutions(ended);
  }

  return {
    /** The oldest waiting refund of the account that its balance covers, or null. */
    async findCoveredRefund(input: Tenant): Promise<CoveredRefund | null> {
      const { refundCaseId, execution } = await funds.findCoveredRefund(tenantFields(input));
      return refundCaseId === undefined ? null : { refundCaseId, execution };
    },

    /**
     * Starts the execution of a refund that is waiting for the balance. Removes from the queue a case that is not
     * waiting, has another blocker, or does not exist, because it would block the others. Fails, to be retried, while
     * the case is executing and its outcome is not recorded yet.
     * @param waiting the execution that was found to wait, if any. The case is read after that, so that no later
     *   execution can be removed from the queue.
     */
    async startWaitingRefund(input: RefundCaseKey, waiting = 0): Promise<'STARTED' | 'NOT_WAITING'> {
      const refundCase = await findCase(input);
      if (refundCase === null) {
        await endExecutions(input);
        return 'NOT_WAITING';
      }
      const { status, executionStartedAt, executions } = refundCase;
      if (executionStartedAt) throw new Error('the refund is executing');
      const idempotencyKey = `refund-funding-${input.refundCaseId}-${executions}`;
      if (status === RefundCaseStatus.FUNDING_REQUIRED) {
        try {
          await refunds.startRefund({ ...caseFields(input), idempotencyKey });
          return 'STARTED';
        } catch (error) {
          const reason = errorInfoOf(error)?.reason;
          if (reason === 'REFUND_EXECUTION_STARTED' || reason === 'REFUND_CASE_STATE') {
            throw new Error('the refund case has changed in the meantime');
          }
          if (reason !== 'REFUND_CASE_BLOCKED') throw error;
        }
      }
      const last = Math.max(executions, waiting);
      if (isClosed(status)) await endExecutions(input);
      else if (last > 0) await endWait(input, last);
      return 'NOT_WAITING';
    },

    /** Fails, to be retried, until the execution of the case has ended. */
    async awaitExecution(input: RefundCaseKey): Promise<void> {
      const { executionStartedAt } = await readCase(clients, input);
      if (executionStartedAt) throw new Error('the refund is executing');
    },
  };
}
