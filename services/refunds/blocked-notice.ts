import { notifyWeekly } from '../contracts/accounts/notify-weekly.ts';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import type { RefundCaseRow } from './refund-case.entity.ts';
import type { RefundCase } from './refund-case.ts';

/** Whether the case is approved, and its merchant can do something about what blocks it. */
export function awaitsVerification({ status, blockedBy }: RefundCase): boolean {
  const isApproved = status === 'APPROVED_FOR_EXECUTION' || status === 'FUNDING_REQUIRED';
  return isApproved && (blockedBy.includes('KYC_NOT_APPROVED') || blockedBy.includes('MERCHANT_NOT_ACTIVE'));
}

/**
 * Since when the other cases are blocked by the same. The literals are those of the partial index. `updated_at` would change with
 * every other blocker, and put off the next mail.
 */
const OTHERS = `
  select coalesce(blocked_since, updated_at) as began_at from refunds.refund_case
   where merchant_id = :merchantId and environment = :environment and id <> :id
     and status in ('APPROVED_FOR_EXECUTION', 'FUNDING_REQUIRED')
     and blocked_by && array['KYC_NOT_APPROVED', 'MERCHANT_NOT_ACTIVE']`;

/**
 * Mails the merchant about an approved case that it has to settle something for, at most once a week: the same verification
 * unblocks them all.
 */
export const notifyOfBlocked = (tx: TenantTransaction, { id, updatedAt }: RefundCaseRow): Promise<void> =>
  notifyWeekly(tx, { kind: 'REFUNDS_BLOCKED', beganAt: updatedAt, others: OTHERS, parameters: { id } });
