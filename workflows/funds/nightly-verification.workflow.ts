import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { AccountKey, FundsActivities } from './funds.activities.ts';
import type { VerificationResult } from './nightly-verification.contract.ts';

const { verifyAccounts } = proxyActivities<FundsActivities>({
  startToCloseTimeout: '2 minutes',
  scheduleToCloseTimeout: '1 hour',
  retry: { maximumInterval: '1 minute' },
});

/** Bounds the history of one run. */
const CALLS_PER_RUN = 100;

/** Where a long run goes on. */
interface Position extends VerificationResult {
  readonly after?: AccountKey;
}

/** Recomputes the funds of every account; what does not agree is told by metric and log where it is found. */
export async function verifyAllFunds(from?: Position): Promise<VerificationResult> {
  let { verifiedAccounts, differences } = from ?? { verifiedAccounts: 0, differences: 0 };
  let after = from?.after;
  for (let calls = 0; calls < CALLS_PER_RUN; calls += 1) {
    const step = await verifyAccounts(after);
    verifiedAccounts += step.verifiedAccounts;
    differences += step.differences;
    after = step.next;
    if (after === undefined) return { verifiedAccounts, differences };
  }
  return continueAsNew<typeof verifyAllFunds>({ ...(after && { after }), verifiedAccounts, differences });
}
