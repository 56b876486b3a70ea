import { patched, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
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

/**
 * Carries on an execution that refunds has committed: funds holds the sale's parts, if that has not come to be, and
 * debits, or has the refund wait for the balance; refunds commits how that ended. Whatever dies in between, the steps
 * that are left are done by the run that follows.
 */
export async function executeRefund(input: ExecuteRefundInput): Promise<ExecuteRefundResult> {
  if (patched('hold-before-debit')) await holdForRefund(input);
  setCurrentDetails("Debits the merchant's funds.");
  const outcome = await debitOrWait(input);
  if (outcome === 'ENDED') return 'ENDED';
  setCurrentDetails(`The debit ended as ${outcome}; records it.`);
  return recordRefundDebit(input, outcome);
}

/** A balance that has come to suffice since the debit was refused is debited: nobody would tell of it again. */
async function debitOrWait(input: ExecuteRefundInput): Promise<DebitOutcome> {
  let outcome = await debitRefund(input);
  for (let look = 1; outcome === 'INSUFFICIENT' && patched('await-funding'); look += 1) {
    if ((await awaitRefundFunding(input, look)) === 'WAITING') break;
    outcome = await debitRefund(input);
  }
  return outcome;
}
