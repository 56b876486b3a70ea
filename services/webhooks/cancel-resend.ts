import type { HandlerContext } from '@connectrpc/connect';
import type {
  CancelResendRequest,
  CancelResendResponseSchema,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import * as resendWorkflow from '../../workflows/webhooks/resend-deliveries.contract.ts';
import * as retryDelivery from '../../workflows/webhooks/retry-delivery.contract.ts';
import type { Writes } from '../platform/writes.ts';
import { endDeliveries } from './end-deliveries.ts';
import { storedResendMessage } from './resend.message.ts';
import { countEnded } from './resend-progress.ts';
import { lockResend } from './resend-store.ts';
import type { WorkflowLink } from './workflow-link.ts';

/** Cancels what is open of a resend; answers the deliveries that a retry workflow carries. */
const CANCEL_DELIVERIES = `
with ${endDeliveries(
  `where d.merchant_id = :merchantId and d.environment = :environment and d.resend_id = :resendId`,
  { status: `'CANCELED'`, endedAt: ':at::timestamptz' },
)}
select id from ended where open_status = 'RETRYING'`;

/** Ends a resend that runs with all of it that is open, and their workflows; one that has ended stays as it is. */
export function cancelResend(
  writes: Writes,
  link: WorkflowLink,
  request: CancelResendRequest,
  context: HandlerContext,
) {
  return writes.run<typeof CancelResendResponseSchema>(request, context, async (tx) => {
    const resend = await lockResend(tx, request.resendId);
    if (resend.state === 'RUNNING') {
      const at = new Date();
      const retrying = await tx.execute<{ id: string }>(CANCEL_DELIVERIES, { resendId: resend.id, at });
      await countEnded(tx, resend);
      resend.state = 'CANCELED';
      resend.endedAt = at;
      const workflowIds = [
        resendWorkflow.workflowId(resend.id),
        ...retrying.map(({ id }) => retryDelivery.workflowId(id)),
      ];
      for (const workflowId of workflowIds) await tx.command({ kind: 'CANCEL', workflowId });
    }
    return { resend: storedResendMessage(resend, link) };
  });
}
