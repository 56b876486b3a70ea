import { randomUUID } from 'node:crypto';
import { RefundDebitOutcome } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import * as refundExecution from '../../services/contracts/refunds/refund-execution.contract.ts';
import { unlessRefused } from '../../services/platform/rpc/connect-errors.ts';
import { caseFields, type RefundClients, readCase } from './refund-clients.ts';

/**
 * The outcome of a debit: WAITING when the execution awaits funding already, ENDED when refunds has recorded its outcome.
 */
export type DebitOutcome = 'DEBITED' | 'INSUFFICIENT' | 'WAITING' | 'ENDED';

/** The steps of an execution. Each reads the current state first or makes a call that takes effect once. */
export function createExecutionActivities(clients: RefundClients) {
  const { refunds, funds } = clients;
  return {
    /** Commits the start of the execution; ENDED when a cancellation, a dispute or a blocker came first. */
    async beginExecution(input: refundExecution.ExecuteRefundInput): Promise<'BEGUN' | 'ENDED'> {
      const { execution } = input;
      // A new key each time: whether the execution can start changes.
      const idempotencyKey = randomUUID();
      const begun = refunds.beginRefundExecution({ ...caseFields(input), execution, idempotencyKey });
      return unlessRefused(
        begun.then(() => 'BEGUN'),
        { REFUND_CASE_STATE: 'ENDED', REFUND_CASE_BLOCKED: 'ENDED', REFUND_EXECUTION_NOT_CURRENT: 'ENDED' },
      );
    },

    /** Debits the merchant's funds for an execution in progress. Funds keeps one debit per case. */
    async debitRefund(input: refundExecution.ExecuteRefundInput): Promise<DebitOutcome> {
      const refundCase = await readCase(clients, input);
      if (!refundCase.executionStartedAt || refundCase.executions !== input.execution) return 'ENDED';
      const { amountMinor, saleId } = refundCase;
      const { execution } = input;
      const debit = { ...caseFields(input), amountMinor, saleId, execution };
      const debited = funds.debitForRefund({ ...debit, idempotencyKey: `${executionId(input)}:debit` });
      return unlessRefused(
        debited.then(() => 'DEBITED'),
        { INSUFFICIENT_AVAILABLE_BALANCE: 'INSUFFICIENT', REFUND_EXECUTION_ENDED: 'WAITING' },
      );
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
      const pending = { ...caseFields(input), amountMinor, saleId, execution, requestedAt };
      const awaited = funds.awaitFunding({ ...pending, idempotencyKey });
      return unlessRefused(
        awaited.then(({ covered }) => (covered ? 'COVERED' : 'WAITING')),
        { REFUND_EXECUTION_ENDED: 'WAITING' },
      );
    },

    /** Commits the outcome of the debit; ENDED when a later run has, and the case has gone on since. */
    async recordRefundDebit(
      input: refundExecution.ExecuteRefundInput,
      debited: boolean,
    ): Promise<refundExecution.ExecuteRefundResult> {
      const { execution } = input;
      const idempotencyKey = `${executionId(input)}:record`;
      const outcome = debited ? RefundDebitOutcome.DEBITED : RefundDebitOutcome.INSUFFICIENT;
      const recorded = refunds.recordRefundDebit({
        ...caseFields(input),
        idempotencyKey,
        execution,
        outcome,
      });
      return unlessRefused(
        recorded.then(() => (debited ? 'PROCESSING' : 'FUNDING_REQUIRED')),
        { REFUND_EXECUTION_NOT_CURRENT: 'ENDED', REFUND_EXECUTION_NOT_STARTED: 'ENDED' },
      );
    },
  };
}

const executionId = ({ refundCaseId, execution }: refundExecution.ExecuteRefundInput) =>
  refundExecution.workflowId(refundCaseId, execution);
