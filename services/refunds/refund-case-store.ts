import { notFound } from '../platform/errors.ts';
import type { TenantTransaction } from '../platform/tenant-transaction.ts';
import {
  PaymentEntity,
  type PaymentRow,
  RefundCaseEntity,
  type RefundCaseRow,
} from './refund-case.entity.ts';
import { refundEventData } from './refund-case.event.ts';
import type { Change, RefundEventType } from './refund-case.ts';

/** What every RPC answers for a case that this merchant does not have in this environment. */
export const refundCaseNotFound = () => notFound('REFUND_CASE_NOT_FOUND', 'there is no such refund case');

/** The case, locked until the transaction ends: whoever comes second meets the state the first has left. */
export async function lockRefundCase(tx: TenantTransaction, id: string): Promise<RefundCaseRow> {
  const row = await tx.lockOne(RefundCaseEntity, { id });
  if (!row) throw refundCaseNotFound();
  return row;
}

/** The payment, locked until the transaction ends; a payment nobody has named before has no facts yet. */
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

/** Makes a change that the rules allow and publishes its events. */
export function storeChange(tx: TenantTransaction, row: RefundCaseRow, change: Change): Promise<void> {
  Object.assign(row, change.changes);
  return publishEvents(tx, row, change.events);
}

/** Publishes the events of a case, with the case as it now stands. */
export async function publishEvents(
  tx: TenantTransaction,
  row: RefundCaseRow,
  events: readonly RefundEventType[],
): Promise<void> {
  for (const type of events) {
    await tx.publish({ type, objectId: row.id, data: refundEventData(row), occurredAt: row.updatedAt });
  }
}
