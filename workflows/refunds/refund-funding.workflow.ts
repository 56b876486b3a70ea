import { continueAsNew, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { RefundCaseKey } from '../../services/contracts/refunds/refund-case-key.ts';
import type { ExecuteFundedRefundsInput } from '../../services/contracts/refunds/refund-funding.contract.ts';
import type { RefundActivities } from './refund.activities.ts';

/** Bounds the history of one run. */
const REFUNDS_PER_RUN = 50;

const { findCoveredRefund } = proxyActivities<RefundActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { maximumInterval: '1 minute' },
});

/** Retried while an execution is in progress, which takes moments. */
const { startWaitingRefund, awaitExecution } = proxyActivities<RefundActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 ms', maximumInterval: '10 seconds' },
});

/**
 * Executes the waiting refunds that the account's balance covers, oldest case first and one at a time: each is debited
 * or queued again before the balance is checked for the next. Concurrent runs for an account find the same case and
 * wait for its execution.
 */
export async function executeFundedRefunds(input: ExecuteFundedRefundsInput): Promise<void> {
  const { merchantId, environment } = input;
  const account = { merchantId, environment };
  if (input.refundCaseId !== undefined) await execute({ ...account, refundCaseId: input.refundCaseId });
  for (let executed = 0; executed < REFUNDS_PER_RUN; executed += 1) {
    const covered = await findCoveredRefund(account);
    if (covered === null) return;
    const { refundCaseId, execution } = covered;
    await execute({ ...account, refundCaseId }, execution);
  }
  await continueAsNew<typeof executeFundedRefunds>(account);
}

async function execute(refund: RefundCaseKey, waiting?: number): Promise<void> {
  setCurrentDetails(`Executing refund case ${refund.refundCaseId}.`);
  if ((await startWaitingRefund(refund, waiting)) === 'STARTED') await awaitExecution(refund);
}
