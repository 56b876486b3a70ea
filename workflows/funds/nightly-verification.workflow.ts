import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Tenant } from '../../services/platform/tenant.ts';
import type { FundsActivities } from './funds.activities.ts';
import type { VerificationResult } from './nightly-verification.contract.ts';

const { verifyAccounts } = proxyActivities<FundsActivities>({
  startToCloseTimeout: '2 minutes',
  scheduleToCloseTimeout: '1 hour',
  retry: { maximumInterval: '1 minute' },
});

/** Bounds the history of one run. */
const CALLS_PER_RUN = 100;

/** The progress that one run hands to the next. */
interface Progress extends VerificationResult {
  readonly after?: Tenant;
}

const START: Progress = { verifiedAccounts: 0, differences: 0, failedAccounts: 0 };

/** Recomputes the funds of every account. The services report differences and failures by metric and log. */
export async function verifyAllFunds(progress: Progress = START): Promise<VerificationResult> {
  let { verifiedAccounts, differences, failedAccounts, after } = progress;
  for (let calls = 0; calls < CALLS_PER_RUN; calls += 1) {
    const step = await verifyAccounts(after);
    verifiedAccounts += step.verifiedAccounts;
    differences += step.differences;
    failedAccounts += step.failedAccounts;
    after = step.next;
    if (after === undefined) return { verifiedAccounts, differences, failedAccounts };
  }
  const totals = { verifiedAccounts, differences, failedAccounts };
  return continueAsNew<typeof verifyAllFunds>({ ...(after && { after }), ...totals });
}
