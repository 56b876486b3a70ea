import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { SENDABLE } from '../lanes/read-deliveries.sql.ts';
import type { ResendRow } from './resend.entity.ts';

/**
 * The deliveries that have ended since they were listed as open; those that retention has dropped count as exhausted.
 */
const ENDED = `
with gone as materialized (
  select listed.id from unnest(:openIds::uuid[]) as listed (id)
   where not exists (select from webhooks.open_delivery o
                      where o.merchant_id = :merchantId and o.environment = :environment and o.id = listed.id)
)
select gone.id, coalesce(d.status, 'EXHAUSTED') as status
  from gone
  left join webhooks.ended_delivery d
    on d.merchant_id = :merchantId and d.environment = :environment and d.id = gone.id`;

interface EndedRow {
  readonly id: string;
  readonly status: 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELED';
}

const COUNTS = {
  SUCCEEDED: 'succeededCount',
  EXHAUSTED: 'exhaustedCount',
  CANCELED: 'canceledCount',
} as const;

/** Counts the ended deliveries of a resend. The transaction must have locked the resend. */
export async function countEnded(tx: TenantTransaction, resend: ResendRow): Promise<void> {
  if (resend.openIds.length === 0) return;
  const ended = await tx.execute<EndedRow>(ENDED, { openIds: resend.openIds });
  for (const { status } of ended) resend[COUNTS[status]] += 1n;
  const gone = new Set(ended.map(({ id }) => id));
  resend.openIds = resend.openIds.filter((id) => !gone.has(id));
}

const WAITING = `
select greatest(
  (select count(*) from webhooks.open_delivery d
    where d.merchant_id = :merchantId and d.environment = :environment and d.id = any (:openIds::uuid[])
      and d.attempt_count = 0),
  (select count(*) from webhooks.open_delivery d
    where d.merchant_id = :merchantId and d.environment = :environment
      and d.lane = webhooks.lane_of(:subscriptionId) and d.subscription_id = :subscriptionId
      and d.resend_id is not null and ${SENDABLE})) as waiting`;

/**
 * Counts the deliveries that wait to be sent: those of the resend that have not had their first attempt or, if they are
 * more, those of all resends of its subscription.
 */
export async function countWaiting(
  tx: TenantTransaction,
  { openIds, subscriptionId }: ResendRow,
): Promise<number> {
  const [row] = await tx.execute<{ waiting: string }>(WAITING, { openIds, subscriptionId });
  return Number(row!.waiting);
}
