import { randomUUID } from 'node:crypto';
import { RefundDebitOutcome } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import * as refundExecution from '../../services/contracts/refunds/refund-execution.contract.ts';
import { errorInfoOf } from '../../services/platform/rpc/connect-errors.ts';
import { type RefundClients, readCase, requestOf } from './refund-clients.ts';

/**
 * The outcome of a debit: WAITING when the execution awaits funding already, ENDED when refunds has recorded its outcome.
 */
export type DebitOutcome = 'DEBITED' | 'INSUFFICIENT' | 'WAITING' | 'ENDED';

/** Refusals that mean an execution has not started and never will. */
const NOT_STARTED: ReadonlySet<string | undefined> = new Set([
  'REFUND_CASE_STATE',
  'REFUND_CASE_BLOCKED',
  'REFUND_EXECUTION_NOT_CURRENT',
]);

/** The steps of an execution. Each reads the current state first or makes a call that takes effect once. */
export function createExecutionActivities(clients: RefundClients) {
  const { refunds, funds } = clients;
  return {
    /** Commits the start of the execution; ENDED when a cancellation, a dispute or a blocker came first. */
    async beginExecution(input: refundExecution.ExecuteRefundInput): Promise<'BEGUN' | 'ENDED'> {
      const { execution } = input;
      // A new key each time: whether the execution can start changes.
      const idempotencyKey = randomUUID();
      try {
        await refunds.beginRefundExecution({ ...requestOf(input), execution, idempotencyKey });
        return 'BEGUN';
      } catch (error) {
        if (NOT_STARTED.has(errorInfoOf(error)?.reason)) return 'ENDED';
        throw error;
      }
    },

    /** Debits the merchant's funds for an execution in progress. Funds keeps one debit per case. */
    async debitRefund(input: refundExecution.ExecuteRefundInput): Promise<DebitOutcome> {
      const refundCase = await readCase(clients, input);
      if (!refundCase.executionStartedAt || refundCase.executions !== input.execution) return 'ENDED';
      const { amountMinor, saleId } = refundCase;
      const { execution } = input;
      const debit = { ...requestOf(input), amountMinor, saleId, execution };
      try {
        await funds.debitForRefund({ ...debit, idempotencyKey: `${executionId(input)}:debit` });
        return 'DEBITED';
      } catch (error) {
        const reason = errorInfoOf(error)?.reason;
        if (reason === 'INSUFFICIENT_AVAILABLE_BALANCE') return 'INSUFFICIENT';
        if (reason === 'REFUND_EXECUTION_ENDED') return 'WAITING';
        throw error;
      }
    },

    /**
     * Queues the refund until the balance suffices, or returns COVERED when it does by now. `attempt` makes the
     * idempotency key unique, because every attempt checks the balance anew.
     */
    async awaitRefundFunding(
      input: refundExecution.ExecuteRefundInput,
      attempt: number,
    ): Promise<'COVERED' | 'WAITING'> {
      const { amountMinor, saleId, requestedAt } = await readCase(clients, input);
      const { execution } = input;
      const idempotencyKey = `${executionId(input)}:await-${attempt}`;
      const pending = { ...requestOf(input), amountMinor, saleId, execution, requestedAt };
      try {
        const { covered } = await funds.awaitFunding({ ...pending, idempotencyKey });
        return covered ? 'COVERED' : 'WAITING';
      } catch (error) {
        if (errorInfoOf(error)?.reason === 'REFUND_EXECUTION_ENDED') return 'WAITING';
        throw error;
      }
    },

    /** Commits the outcome of the debit; ENDED when a later run has, and the case has gone on since. */
    async recordRefundDebit(
      input: refundExecution.ExecuteRefundInput,
      debited: boolean,
    ): Promise<refundExecution.ExecuteRefundResult> {
      const { execution } = input;
      const idempotencyKey = `${executionId(input)}:record`;
      const outcome = debited ? RefundDebitOutcome.DEBITED : RefundDebitOutcome.INSUFFICIENT;
      try {
        await refunds.recordRefundDebit({ ...requestOf(input), idempotencyKey, execution, outcome });
      } catch (error) {
        const reason = errorInfoOf(error)?.reason;
        if (reason === 'REFUND_EXECUTION_NOT_CURRENT' || reason === 'REFUND_EXECUTION_NOT_STARTED')
          return 'ENDED';
        throw error;
      }
      return debited ? 'PROCESSING' : 'FUNDING_REQUIRED';
    },
  };
}

const executionId = ({ refundCaseId, execution }: refundExecution.ExecuteRefundInput) =>
  refundExecution.workflowId(refundCaseId, execution);
