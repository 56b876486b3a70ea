import { randomUUID } from 'node:crypto';
import { type RefundCase, RefundCaseStatus } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { errorInfoOf } from '../../services/platform/rpc/connect-errors.ts';
import {
  type AccountInput,
  CALL,
  type CaseInput,
  isClosed,
  type RefundClients,
  readCase,
  requestOf,
  tenantOf,
} from './refund-clients.ts';

/** The largest that the wire has: no execution of a case is later. */
const ANY_EXECUTION = 2_147_483_647;

/** The activities that have waiting refunds executed. */
export function createFundingActivities(clients: RefundClients) {
  const { refunds, funds } = clients;

  /** The case, or null when refunds has none. */
  async function caseIfThere(input: CaseInput): Promise<RefundCase | null> {
    try {
      return await readCase(clients, input);
    } catch (error) {
      if (errorInfoOf(error)?.reason === 'REFUND_CASE_NOT_FOUND') return null;
      throw error;
    }
  }

  /** By a new key each time: a wait that was ended before may have been begun again. */
  async function endWait(input: CaseInput, execution: number): Promise<void> {
    await funds.endFundingWait({ ...requestOf(input), idempotencyKey: randomUUID(), execution }, CALL);
  }

  return {
    /** The oldest waiting refund of the account that its balance covers, or null. */
    async findCoveredRefund(input: AccountInput): Promise<string | null> {
      const { refundCaseId } = await funds.findCoveredRefund(tenantOf(input), CALL);
      return refundCaseId ?? null;
    },

    /**
     * Starts the execution of a refund that waits for the balance; one that does not, that is blocked otherwise or that
     * refunds does not know waits no more: it would keep the others from their turn. Fails, to be tried again, while the
     * case is executing: how that ends is not recorded yet.
     */
    async startWaitingRefund(input: CaseInput): Promise<'STARTED' | 'NOT_WAITING'> {
      const refundCase = await caseIfThere(input);
      if (refundCase === null) {
        await endWait(input, ANY_EXECUTION);
        return 'NOT_WAITING';
      }
      const { status, executionStartedAt, executions } = refundCase;
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
      await endWait(input, isClosed(status) ? ANY_EXECUTION : Math.max(executions, 1));
      return 'NOT_WAITING';
    },

    /** Fails, to be tried again, until the execution of a case has ended. */
    async awaitExecution(input: CaseInput): Promise<void> {
      const { executionStartedAt } = await readCase(clients, input);
      if (executionStartedAt) throw new Error('the refund is executing');
    },
  };
}
