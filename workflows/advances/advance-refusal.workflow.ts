import { proxyActivities } from '@temporalio/workflow';
import type { AdvanceRequestKey } from '../../services/contracts/advances/advance-request-key.ts';
import type { AdvanceActivities } from './advance.activities.ts';

const { freeRefusedInstallments } = proxyActivities<AdvanceActivities>({
  startToCloseTimeout: '1 minute',
  retry: { maximumInterval: '1 minute' },
});

/** Frees the installments of a refused request, in case the refusal itself could not. */
export async function freeRefusedAdvance(input: AdvanceRequestKey): Promise<void> {
  await freeRefusedInstallments(input);
}
