import * as refundExecution from '../contracts/refunds/refund-execution.contract.ts';
import * as refundHold from '../contracts/refunds/refund-hold.contract.ts';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { notFound } from '../platform/errors.ts';
import { awaitsVerification, notifyOfBlocked } from './blocked-notice.ts';
import { disputeNotFound } from './disputes/dispute.ts';
import { awaitsExecution } from './execution/refund-execution.ts';
import { type RefundSumsRow, refundSums, refundSumsOf } from './payments/payment-use.sql.ts';
import {
  DisputeEntity,
  type DisputeRow,
  PaymentEntity,
  type PaymentRow,
  RefundCaseEntity,
  type RefundCaseRow,
} from './refund-case.entity.ts';
import { publishEvents } from './refund-case.event.ts';
import { type Change, isClosed } from './refund-case.ts';

/** NOT_FOUND (REFUND_CASE_NOT_FOUND): the merchant has no such refund case in this environment. */
export const refundCaseNotFound = () => notFound('REFUND_CASE_NOT_FOUND', 'the refund case does not exist');

/** Locks the case until the transaction ends. NOT_FOUND (REFUND_CASE_NOT_FOUND). */
export async function lockRefundCase(tx: TenantTransaction, id: string): Promise<RefundCaseRow> {
  const row = await tx.lockOne(RefundCaseEntity, { id });
  if (!row) throw refundCaseNotFound();
  return row;
}

/** Locks the dispute until the transaction ends. NOT_FOUND (DISPUTE_NOT_FOUND). */
export async function lockDispute(tx: TenantTransaction, id: string): Promise<DisputeRow> {
  const row = await tx.lockOne(DisputeEntity, { id });
  if (!row) throw disputeNotFound();
  return row;
}

/** Locks the payment until the transaction ends; creates it, without facts, if it is new. */
export async function lockPayment(tx: TenantTransaction, id: string): Promise<PaymentRow> {
  await tx.execute(
    `insert into refunds.payment (merchant_id, environment, id) values (:merchantId, :environment, :id)
     on conflict do nothing`,
    { id },
  );
  const payment = await tx.lockOne(PaymentEntity, { id });
  if (!payment) throw new Error('a payment that was just inserted does not exist');
  return payment;
}

/** Locks the payment of a case. The payment comes before its cases, as everywhere. NOT_FOUND (REFUND_CASE_NOT_FOUND). */
export async function lockPaymentOf(tx: TenantTransaction, refundCaseId: string): Promise<PaymentRow> {
  const found = await tx.findOne(RefundCaseEntity, { id: refundCaseId });
  if (!found) throw refundCaseNotFound();
  return lockPayment(tx, found.paymentIntentId);
}

/** Locks a dispute after its payment, as everywhere. NOT_FOUND (DISPUTE_NOT_FOUND). */
export async function lockDisputedPayment(
  tx: TenantTransaction,
  disputeId: string,
): Promise<{ payment: PaymentRow; dispute: DisputeRow }> {
  const found = await tx.findOne(DisputeEntity, { id: disputeId });
  if (!found) throw disputeNotFound();
  const payment = await lockPayment(tx, found.paymentIntentId);
  return { payment, dispute: await lockDispute(tx, disputeId) };
}

const REFUND_SUMS = refundSums({
  merchantId: ':merchantId',
  environment: ':environment',
  paymentIntentId: ':paymentIntentId',
});

/** What the refunds and disputes of a payment use of it at this moment. The payment is locked. */
export async function paymentUseOf(tx: TenantTransaction, paymentIntentId: string) {
  await tx.flush();
  const [row] = await tx.execute<RefundSumsRow>(REFUND_SUMS, { paymentIntentId });
  return { ...refundSumsOf(row!), disputes: await tx.find(DisputeEntity, { paymentIntentId }) };
}

/**
 * Stores a change and publishes its events. If the change closes the case, also ends the case's hold on funds; if it leaves
 * an approved case blocked by what its merchant can settle, mails the merchant.
 */
export async function storeChange(tx: TenantTransaction, row: RefundCaseRow, change: Change): Promise<void> {
  const was = row.status;
  const hasAwaited = awaitsVerification(row);
  Object.assign(row, change.changes);
  const { id: refundCaseId, status, blockedBy, executions } = row;
  const logged = { was, changed: Object.keys(change.changes), events: change.events };
  tx.logStep('a refund case has changed', { refundCaseId, status, blockedBy, executions, ...logged });
  await publishEvents(tx, row, change.events);
  if (change.changes.status !== undefined && isClosed(row)) await endHold(tx, row);
  if (!awaitsVerification(row)) row.blockedSince = null;
  else if (!hasAwaited) {
    row.blockedSince = row.updatedAt;
    await notifyOfBlocked(tx, row);
  }
}

/** What starts the execution of approved cases: the transaction that approves them, or a call of StartRefund. */
export type RefundExecutionMode = 'automatic' | 'manual';

/** Starts the workflow that executes the case, if it is approved and has no blocker. */
export async function executeIfApproved(
  tx: TenantTransaction,
  row: RefundCaseRow,
  mode: RefundExecutionMode,
): Promise<void> {
  if (mode === 'manual' || !awaitsExecution(row)) return;
  const execution = { ...tx.tenant, refundCaseId: row.id, execution: row.executions + 1 };
  await tx.command(refundExecution.startCommand(execution));
}

/** A case holds funds if it has a sale, or if its execution may be waiting for the balance. */
async function endHold(tx: TenantTransaction, row: RefundCaseRow): Promise<void> {
  const mayWait = row.executions > 0 && row.processingStartedAt === null;
  if (row.saleId === null && !mayWait) return;
  await tx.command(refundHold.endCommand({ ...tx.tenant, refundCaseId: row.id }));
}
