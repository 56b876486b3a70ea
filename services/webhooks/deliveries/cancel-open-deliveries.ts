import { NIL } from 'uuid';
import * as retryDelivery from '../../contracts/webhooks/retry-delivery.contract.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import type { DeliveryStatusName } from './delivery.ts';
import { endDeliveries } from './end-deliveries.sql.ts';

/** The column with the id of the deliveries' owner. */
type Owner = 'subscription_id' | 'resend_id';

const LOGGED: Readonly<Record<Owner, string>> = { subscription_id: 'subscriptionId', resend_id: 'resendId' };

/** A failing endpoint may have a million open deliveries: short transactions do not lock their rows for long. */
const STEP = 1_000;

/**
 * A subscription's deliveries are canceled only while the statement sees it DISABLED: if it was reactivated in the
 * meantime, it keeps its new deliveries.
 */
const WHILE: Readonly<Record<Owner, string>> = {
  subscription_id: `exists (
     select from webhooks.subscription s
      where s.merchant_id = :merchantId and s.environment = :environment and s.id = :ownerId and s.state = 'DISABLED')`,
  resend_id: 'true',
};

const cancelSql = (owner: Owner) => `
with picked as materialized (
  select d.id from webhooks.open_delivery d
   where d.merchant_id = :merchantId and d.environment = :environment and d.${owner} = :ownerId and d.id > :after
     and ${WHILE[owner]}
   order by d.id limit ${STEP}
     for update
), ${endDeliveries(
  'using picked where d.merchant_id = :merchantId and d.environment = :environment and d.id = picked.id',
  { status: `'CANCELED'`, endedAt: ':at::timestamptz' },
)}
select id, open_status from ended order by id`;

/** The number of canceled deliveries, and the last one if more may be open. */
export interface CanceledDeliveries {
  readonly count: number;
  readonly last: string | undefined;
}

/**
 * Cancels the oldest thousand open deliveries of a resend or of a DISABLED subscription, and their retry workflows.
 * @param after only deliveries after this one.
 */
export async function cancelOpenDeliveries(
  tx: TenantTransaction,
  owner: Owner,
  ownerId: string,
  after: string = NIL,
): Promise<CanceledDeliveries> {
  const parameters = { ownerId, after, at: new Date() };
  const ended = await tx.execute<{ id: string; open_status: DeliveryStatusName }>(
    cancelSql(owner),
    parameters,
  );
  for (const { id, open_status } of ended) {
    if (open_status === 'RETRYING') await tx.command(retryDelivery.cancelCommand(id));
  }
  if (ended.length > 0) {
    const deliveryIds = ended.map(({ id }) => id);
    tx.logStep('open deliveries were canceled', { [LOGGED[owner]]: ownerId, deliveryIds });
  }
  return { count: ended.length, last: ended.length === STEP ? ended.at(-1)!.id : undefined };
}
