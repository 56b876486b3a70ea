import type { HandlerContext } from '@connectrpc/connect';
import type {
  CancelResendRequest,
  CancelResendResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { cancelCommand } from '../../contracts/webhooks/resend-deliveries.contract.ts';
import { cancelOpenDeliveries } from '../deliveries/cancel-open-deliveries.ts';
import type { DeliveryDependencies } from '../deliveries/delivery-dependencies.ts';
import { refreshOwners } from '../subscriptions/subscription-store.ts';
import { storedResendMessage } from './resend.message.ts';
import { countEnded } from './resend-progress.ts';
import { lockResend } from './resend-store.ts';

const WITH_OPEN_DELIVERIES = `s.id in (
  select d.subscription_id from webhooks.open_delivery d
   where d.merchant_id = :merchantId and d.environment = :environment and d.resend_id = :resendId)`;

/** Cancels a running resend with its open deliveries and their workflows; one that has ended stays as it is. */
export function cancelResend(
  { writes, link }: DeliveryDependencies,
  request: CancelResendRequest,
  context: HandlerContext,
) {
  return writes.run<typeof CancelResendResponseSchema>(request, context, async (tx) => {
    const resend = await lockResend(tx, request.resendId);
    if (resend.state === 'RUNNING') {
      await tx.command(cancelCommand(resend.id));
      await refreshOwners(tx, WITH_OPEN_DELIVERIES, { resendId: resend.id });
      while ((await cancelOpenDeliveries(tx, 'resend_id', resend.id)).last);
      await countEnded(tx, resend);
      resend.state = 'CANCELED';
      resend.endedAt = new Date();
    }
    return { resend: storedResendMessage(resend, link) };
  });
}
