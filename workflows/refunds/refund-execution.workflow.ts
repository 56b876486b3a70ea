import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type {
  ExecuteRefundInput,
  ExecuteRefundResult,
} from '../../services/contracts/refunds/refund-execution.contract.ts';
import type { DebitOutcome, RefundActivities } from './refund.activities.ts';

const { holdForRefund, debitRefund, awaitRefundFunding, recordRefundDebit } =
  proxyActivities<RefundActivities>({
    startToCloseTimeout: '30 seconds',
    retry: { maximumInterval: '1 minute' },
  });

/** The provider's deadline and the recording of its answer take less. Retried for as long as the provider is away. */
const { submitRefund } = proxyActivities<RefundActivities>({
  startToCloseTimeout: '1 minute',
  retry: { maximumInterval: '5 minutes' },
});

/**
 * Completes an execution that refunds has committed: funds holds the sale's installments, unless it already does, and
 * debits the refund or queues it until the balance suffices; refunds commits the outcome; the debited refund is
 * submitted to the provider. Every step can be repeated, so a later run completes what a crash left undone.
 */
export async function executeRefund(input: ExecuteRefundInput): Promise<ExecuteRefundResult> {
  await holdForRefund(input);
  setCurrentDetails("Debiting the merchant's funds.");
  const outcome = await debitOrQueue(input);
  const result = outcome === 'ENDED' ? outcome : await record(input, outcome);
  if (result === 'FUNDING_REQUIRED') return result;
  // Also when the debit had been recorded before this run, which may have died before the submission.
  setCurrentDetails('Submitting the refund to the provider.');
  const submission = await submitRefund(input);
  setCurrentDetails(`The submission ended: ${submission}.`);
  return result;
}

function record(input: ExecuteRefundInput, outcome: Exclude<DebitOutcome, 'ENDED'>) {
  setCurrentDetails(`Recording the outcome of the debit: ${outcome}.`);
  return recordRefundDebit(input, outcome);
}

/**
 * Debits the refund, or queues it for funding. Debits again when the balance has risen since the first refusal, because
 * a refund that was not queued yet is not woken by it.
 */
async function debitOrQueue(input: ExecuteRefundInput): Promise<DebitOutcome> {
  let outcome = await debitRefund(input);
  for (let attempt = 1; outcome === 'INSUFFICIENT'; attempt += 1) {
    if ((await awaitRefundFunding(input, attempt)) === 'WAITING') break;
    outcome = await debitRefund(input);
  }
  return outcome;
}
