import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { disputeNotFound } from './dispute.ts';
import { DisputeEntity } from './refund-case.entity.ts';
import { lockDispute, lockPayment } from './refund-case-store.ts';

/**
 * Locks the dispute's payment, which serializes disputes and new cases of a payment, and then the dispute. NOT_FOUND
 * (DISPUTE_NOT_FOUND).
 */
export async function lockDisputedPayment(tx: TenantTransaction, id: string) {
  const found = await tx.findOne(DisputeEntity, { id });
  if (!found) throw disputeNotFound();
  const payment = await lockPayment(tx, found.paymentIntentId);
  return { payment, dispute: await lockDispute(tx, id) };
}
