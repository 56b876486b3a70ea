import { patched, sleep } from '@temporalio/workflow';
import type { RetryDeliveryInput } from '../../../../services/contracts/webhooks/retry-delivery.contract.ts';
import { retryDelivery as present } from '../../../../workflows/webhooks/retry-delivery.workflow.ts';

export { recordDeliveries } from '../../../../workflows/webhooks/record-deliveries.workflow.ts';

/** The same next version, written correctly: running workflows continue as they began. */
export async function retryDelivery(retry: RetryDeliveryInput) {
  if (patched('waits-first')) await sleep('1 ms');
  return present(retry);
}
