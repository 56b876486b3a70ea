import { notifyOfOutcome } from '../contracts/accounts/notify-contact.contract.ts';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import type { RefundCaseRow } from './refund-case.entity.ts';
import type { RefundCase } from './refund-case.ts';

const WEEK_MS = 7 * 86_400_000;

/** Whether the case is approved, and its merchant can do something about what blocks it. */
export function awaitsVerification({ status, blockedBy }: RefundCase): boolean {
  const isApproved = status === 'APPROVED_FOR_EXECUTION' || status === 'FUNDING_REQUIRED';
  return isApproved && (blockedBy.includes('KYC_NOT_APPROVED') || blockedBy.includes('MERCHANT_NOT_ACTIVE'));
}

/**
 * A mail within a week: the first of the other approved cases that the same blocks had one, and each that came more than a
 * week after the last mail. The literals are those of the partial index.
 */
const FIND_MAILED = `
with recursive waiting as (
  select updated_at from refunds.refund_case
   where merchant_id = :merchantId and environment = :environment and id <> :id
     and status in ('APPROVED_FOR_EXECUTION', 'FUNDING_REQUIRED')
     and blocked_by && array['KYC_NOT_APPROVED', 'MERCHANT_NOT_ACTIVE']
), mailed (at) as (
  select min(updated_at) from waiting
  union all
  select (select min(updated_at) from waiting where updated_at > mailed.at + interval '168 hours')
    from mailed where mailed.at is not null
)
select at from mailed where at > :since limit 1`;

/**
 * Mails the merchant about an approved case that it has to settle something for, unless it was mailed within a week about
 * another one that still waits: the same verification unblocks them all.
 */
export async function notifyOfBlocked(
  tx: TenantTransaction,
  { id, updatedAt }: RefundCaseRow,
): Promise<void> {
  const { merchantId: subjectId, environment } = tx.tenant;
  if (environment !== 'live') return;
  const mailed = await tx.execute(FIND_MAILED, { id, since: new Date(updatedAt.getTime() - WEEK_MS) });
  if (mailed.length > 0) return;
  await notifyOfOutcome(tx, { kind: 'REFUNDS_BLOCKED', subjectId }, updatedAt);
}
