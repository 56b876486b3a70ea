import type { HandlerContext } from '@connectrpc/connect';
import {
  AttemptFailure,
  type ReportListenerDeliveryRequest,
  type ReportListenerDeliveryResponse,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { enumName } from '../../platform/enum-name.ts';
import { tenantOf } from '../../platform/tenant.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { endListenerDelivery } from './listener-deliveries.ts';
import { requireListener } from './listener-store.ts';

/** Records the outcome of a listener's delivery. */
export async function reportListenerDelivery(
  writes: Writes,
  request: ReportListenerDeliveryRequest,
  context: HandlerContext,
): Promise<ReportListenerDeliveryResponse> {
  const { listenerId, deliveryId, outcome, latencyMs, responseExcerpt } = request;
  const result =
    outcome.case === 'httpStatus'
      ? { httpStatus: outcome.value, responseExcerpt }
      : { failure: enumName(AttemptFailure, outcome.value) };
  await writes.transaction(tenantOf(request), context, async (tx) => {
    await requireListener(tx, listenerId);
    await endListenerDelivery(tx, { listenerId, deliveryId }, { ...result, latencyMs });
  });
  return { $typeName: 'payments.webhooks.v1.ReportListenerDeliveryResponse' };
}
