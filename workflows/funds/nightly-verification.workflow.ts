import { continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { AccountKey, FundsActivities } from './funds.activities.ts';
import type { VerificationResult } from './nightly-verification.contract.ts';

const { verifyAccounts } = proxyActivities<FundsActivities>({
  startToCloseTimeout: '2 minutes',
  retry: { maximumInterval: '1 minute' },
});

/** Where a long run goes on. */
interface Position extends VerificationResult {
  readonly after: AccountKey;
}

/** Recomputes the funds of every account; what does not agree is told by metric and log where it is found. */
export async function verifyAllFunds(from?: Position): Promise<VerificationResult> {
  let { verifiedAccounts, differences } = from ?? { verifiedAccounts: 0, differences: 0 };
  for (let after = from?.after; ; ) {
    const step = await verifyAccounts(after);
    verifiedAccounts += step.verifiedAccounts;
    differences += step.differences;
    after = step.next;
    if (after === undefined) return { verifiedAccounts, differences };
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof verifyAllFunds>({ after, verifiedAccounts, differences });
    }
  }
}
