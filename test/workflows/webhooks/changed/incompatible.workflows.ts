import { sleep } from '@temporalio/workflow';
import type { RetryDeliveryInput } from '../../../../services/contracts/webhooks/retry-delivery.contract.ts';
import { retryDelivery as present } from '../../../../workflows/webhooks/retry-delivery.workflow.ts';

export { recordDeliveries } from '../../../../workflows/webhooks/record-deliveries.workflow.ts';

/** A next version that does something more at its start, written as it must not be. */
export async function retryDelivery(retry: RetryDeliveryInput) {
  await sleep('1 ms');
  return present(retry);
}
