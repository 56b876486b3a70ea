import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type {
  ExecuteRefundInput,
  ExecuteRefundResult,
} from '../../services/contracts/refunds/refund-execution.contract.ts';
import type { RefundActivities } from './refund.activities.ts';
import type { DebitOutcome } from './refund-execution.activities.ts';

const { beginExecution, holdForRefund, debitRefund, awaitRefundFunding, recordRefundDebit } =
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
 * Executes a refund: refunds commits the start, unless the case was canceled or disputed first; funds holds the refund's
 * amount, unless it already does, and debits it or queues it until the balance suffices; refunds commits the outcome; the
 * debited refund is submitted to the provider. Every step can be repeated, so a later run completes what a crash left
 * undone.
 */
export async function executeRefund(input: ExecuteRefundInput): Promise<ExecuteRefundResult> {
  if ((await beginExecution(input)) === 'ENDED') return 'ENDED';
  await holdForRefund(input);
  setCurrentDetails("Debiting the merchant's funds.");
  const outcome = await debitOrWait(input);
  const result = outcome === 'ENDED' ? outcome : await recordRefundDebit(input, outcome === 'DEBITED');
  if (result === 'FUNDING_REQUIRED') return result;
  // Also when the debit had been recorded before this run, which may have died before the submission.
  setCurrentDetails('Submitting the refund to the provider.');
  const submission = await submitRefund(input);
  setCurrentDetails(`The submission ended: ${submission}.`);
  return result;
}

/**
 * Debits the refund, or queues it for funding. Debits again if the balance has risen since the first refusal: a rise
 * does not wake a refund that was not queued yet.
 */
async function debitOrWait(input: ExecuteRefundInput): Promise<Exclude<DebitOutcome, 'INSUFFICIENT'>> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await debitRefund(input);
    if (outcome !== 'INSUFFICIENT') return outcome;
    if ((await awaitRefundFunding(input, attempt)) === 'WAITING') return 'WAITING';
  }
}
