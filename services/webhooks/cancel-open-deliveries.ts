import * as retryDelivery from '../../workflows/webhooks/retry-delivery.contract.ts';
import type { TenantTransaction } from '../platform/tenant-transaction.ts';
import { endDeliveries } from './end-deliveries.ts';

/** The column that says what deliveries are of. */
type Owner = 'subscription_id' | 'resend_id';

/** Answers the deliveries that a retry workflow carries. */
const cancelSql = (owner: Owner) => `
with ${endDeliveries(
  `where d.merchant_id = :merchantId and d.environment = :environment and d.${owner} = :ownerId`,
  { status: `'CANCELED'`, endedAt: ':at::timestamptz' },
)}
select id from ended where open_status = 'RETRYING'`;

/** Ends all that is open of a subscription or of a resend as CANCELED, and its retry workflows with it. */
export async function cancelOpenDeliveries(
  tx: TenantTransaction,
  owner: Owner,
  ownerId: string,
  at: Date,
): Promise<void> {
  const retrying = await tx.execute<{ id: string }>(cancelSql(owner), { ownerId, at });
  for (const { id } of retrying)
    await tx.command({ kind: 'CANCEL', workflowId: retryDelivery.workflowId(id) });
}
