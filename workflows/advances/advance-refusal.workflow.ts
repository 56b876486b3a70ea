import { proxyActivities } from '@temporalio/workflow';
import type { FreeRefusedAdvanceInput } from '../../services/contracts/advances/advance-refusal.contract.ts';
import type { AdvanceActivities } from './advance.activities.ts';

const { freeRefusedInstallments } = proxyActivities<AdvanceActivities>({
  startToCloseTimeout: '1 minute',
  retry: { maximumInterval: '1 minute' },
});

/** Frees the installments of a refused request, in case the refusal itself could not. */
export async function freeRefusedAdvance(input: FreeRefusedAdvanceInput): Promise<void> {
  await freeRefusedInstallments(input);
}
