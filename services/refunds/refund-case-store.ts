import * as refundHold from '../contracts/refunds/refund-hold.contract.ts';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { notFound } from '../platform/errors.ts';
import {
  DisputeEntity,
  PaymentEntity,
  type PaymentRow,
  RefundCaseEntity,
  type RefundCaseRow,
} from './refund-case.entity.ts';
import { refundEventData } from './refund-case.event.ts';
import { type Change, isClosed, type RefundEventType } from './refund-case.ts';

/** What every RPC answers for a case that this merchant does not have in this environment. */
export const refundCaseNotFound = () => notFound('REFUND_CASE_NOT_FOUND', 'there is no such refund case');

/** Locks the case until the transaction ends. NOT_FOUND (REFUND_CASE_NOT_FOUND). */
export async function lockRefundCase(tx: TenantTransaction, id: string): Promise<RefundCaseRow> {
  const row = await tx.lockOne(RefundCaseEntity, { id });
  if (!row) throw refundCaseNotFound();
  return row;
}

/** Locks the payment until the transaction ends, and creates it without facts when it is new. */
export async function lockPayment(tx: TenantTransaction, id: string): Promise<PaymentRow> {
  await tx.execute(
    `insert into refunds.payment (merchant_id, environment, id) values (:merchantId, :environment, :id)
     on conflict do nothing`,
    { id },
  );
  const payment = await tx.lockOne(PaymentEntity, { id });
  if (!payment) throw new Error('a payment that was just written is not there');
  return payment;
}

/**
 * Whether a dispute of the payment is open, or was lost: its customer has the money, and no refund pays it again. Of
 * the one named `besides` nothing is asked.
 */
export async function isDisputed(
  tx: TenantTransaction,
  paymentIntentId: string,
  besides?: string,
): Promise<boolean> {
  const blocking = { $or: [{ closedAt: null }, { outcome: 'LOST' as const }] };
  const others = besides === undefined ? {} : { id: { $ne: besides } };
  return (await tx.findOne(DisputeEntity, { paymentIntentId, ...blocking, ...others })) !== null;
}

/** Makes a change that the rules allow and publishes its events; a case that closes lets go of what it holds in funds. */
export async function storeChange(tx: TenantTransaction, row: RefundCaseRow, change: Change): Promise<void> {
  Object.assign(row, change.changes);
  await publishEvents(tx, row, change.events);
  if (change.changes.status !== undefined && isClosed(row)) await endHold(tx, row);
}

/** Publishes the events of a case, with the case as it now stands. */
export async function publishEvents(
  tx: TenantTransaction,
  row: RefundCaseRow,
  events: readonly RefundEventType[],
  occurredAt = row.updatedAt,
): Promise<void> {
  for (const type of events) {
    await tx.publish({ type, objectId: row.id, data: refundEventData(row), occurredAt });
  }
}

/** A case holds its sale's funds, and one whose execution found too little of them may wait for the balance. */
async function endHold(tx: TenantTransaction, row: RefundCaseRow): Promise<void> {
  const mayWait = row.executions > 0 && row.processingStartedAt === null;
  if (row.saleId === null && !mayWait) return;
  await tx.command(refundHold.endCommand({ ...tx.tenant, refundCaseId: row.id }));
}
