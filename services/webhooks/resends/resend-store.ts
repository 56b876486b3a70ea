import * as resendWorkflow from '../../contracts/webhooks/resend-deliveries.contract.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { failedPrecondition, notFound } from '../../platform/errors.ts';
import { ResendEntity, type ResendRow } from './resend.entity.ts';

const MAX_RUNNING = 10;

/** NOT_FOUND (RESEND_NOT_FOUND): the merchant has no such resend in this environment. */
export const resendNotFound = () => notFound('RESEND_NOT_FOUND', 'the resend does not exist');

/** Its target never changes, so it is read without a lock. */
const LOCK_TARGET = `
select from webhooks.subscription s
 where s.merchant_id = :merchantId and s.environment = :environment
   and s.id = (select subscription_id from webhooks.resend r
                where r.merchant_id = :merchantId and r.environment = :environment and r.id = :id)
   for key share`;

/**
 * The resend, locked until the transaction ends. Locks the subscription that it is for first, like a disable, which ends
 * its resends. NOT_FOUND (RESEND_NOT_FOUND).
 */
export async function lockResend(tx: TenantTransaction, id: string): Promise<ResendRow> {
  await tx.execute(LOCK_TARGET, { id });
  const resend = await tx.lockOne(ResendEntity, { id });
  if (!resend) throw resendNotFound();
  return resend;
}

/** Allows at most ten running resends; no other can start until the transaction ends. RESEND_LIMIT_REACHED. */
export async function requireBelowResendLimit(tx: TenantTransaction): Promise<void> {
  await tx.awaitNamedLock('webhook resends');
  const [row] = await tx.execute<{ running: string }>(
    `select count(*) as running from webhooks.resend
      where merchant_id = :merchantId and environment = :environment and state = 'RUNNING'`,
  );
  if (Number(row!.running) < MAX_RUNNING) return;
  const message = `a merchant can have at most ${MAX_RUNNING} running resends`;
  throw failedPrecondition('RESEND_LIMIT_REACHED', message, { limit: String(MAX_RUNNING) });
}

/** Starts the resend's workflow once this transaction commits, unless it is running. */
export function startResendWorkflow(
  tx: TenantTransaction,
  resend: { readonly id: string; readonly subscriptionId: string | null },
): Promise<void> {
  const { merchantId, environment } = tx.tenant;
  const forSubscription = resend.subscriptionId !== null && { subscriptionId: resend.subscriptionId };
  return tx.command(
    resendWorkflow.startCommand({ resendId: resend.id, merchantId, environment, ...forSubscription }),
  );
}
