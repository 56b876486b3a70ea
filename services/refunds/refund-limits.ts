import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { type LimitBlocker, limitBlockers, type RefundLimits } from './refund-policy.ts';

/**
 * The limits of 24 hours that a refund exceeds, counted with the merchant's other cases requested in the 24 hours
 * before `at`, except canceled and rejected ones. Cases dated after `at` count too, so that neither a backdated write
 * nor one that waited for another exceeds the limits. A lock serializes the counts of a merchant.
 */
export async function exceededLimits(
  tx: TenantTransaction,
  limits: RefundLimits,
  refund: { id: string; amountMinor: bigint },
  at: Date,
): Promise<LimitBlocker[]> {
  await tx.awaitNamedLock('refund limits');
  const [recent] = await tx.execute<{ count: number; amount_minor: string }>(
    `select count(*)::integer as count, coalesce(sum(amount_minor), 0)::text as amount_minor
       from refunds.refund_case
      where merchant_id = :merchantId and environment = :environment
        and requested_at > :at::timestamptz - interval '24 hours'
        and requested_at < :at::timestamptz + interval '24 hours'
        and status not in ('CANCELED', 'REJECTED') and id <> :id`,
    { at, id: refund.id },
  );
  const { count, amount_minor: recentMinor } = recent!;
  return limitBlockers(refund.amountMinor, { count, amountMinor: BigInt(recentMinor) }, limits);
}
