import { defineEntity, type InferEntity, p } from '@mikro-orm/postgresql';
import { amountColumn, tenantColumns, timestampColumn } from '../platform/database/tenant-columns.ts';
import type { DisputeOutcome, DisputeReason } from './disputes/dispute.ts';
import type { ApprovalMode, Blocker, Initiator, MerchantDecision, RefundStatus } from './refund-case.ts';

export const PaymentEntity = defineEntity({
  name: 'Payment',
  tableName: 'payment',
  schema: 'refunds',
  properties: {
    ...tenantColumns,
    id: p.uuid().primary(),
    paidAmountMinor: amountColumn().strictNullable(),
    paidAt: timestampColumn().strictNullable(),
    refundWindowDays: p.integer().strictNullable(),
    productId: p.uuid().strictNullable(),
    saleId: p.uuid().strictNullable(),
    saleAmountMinor: amountColumn().strictNullable(),
    orderId: p.uuid().strictNullable(),
    invoiceId: p.uuid().strictNullable(),
  },
});

export const RefundCaseEntity = defineEntity({
  name: 'RefundCase',
  tableName: 'refund_case',
  schema: 'refunds',
  properties: {
    ...tenantColumns,
    id: p.uuid().primary(),
    paymentIntentId: p.uuid(),
    amountMinor: amountColumn(),
    status: p.string().$type<RefundStatus>(),
    initiator: p.string().$type<Initiator>(),
    approvalMode: p.string().$type<ApprovalMode>().strictNullable(),
    blockedBy: p.array().$type<readonly Blocker[]>(),
    /** Since when the approved case has been blocked by what its merchant can settle. */
    blockedSince: timestampColumn().strictNullable(),
    evidenceCount: p.integer(),
    reason: p.text(),
    refundReference: p.text().strictNullable(),
    saleId: p.uuid().strictNullable(),
    orderId: p.uuid().strictNullable(),
    invoiceId: p.uuid().strictNullable(),
    paymentPaidAt: timestampColumn().strictNullable(),
    refundWindowDays: p.integer().strictNullable(),
    refundWindowExpiresAt: timestampColumn().strictNullable(),
    merchantReviewDeadlineAt: timestampColumn().strictNullable(),
    deadlineNotifiedAt: timestampColumn().strictNullable(),
    merchantDecision: p.string().$type<MerchantDecision>().strictNullable(),
    merchantDecidedAt: timestampColumn().strictNullable(),
    merchantDecisionReason: p.text().strictNullable(),
    executions: p.integer(),
    executionStartedAt: timestampColumn().strictNullable(),
    processingStartedAt: timestampColumn().strictNullable(),
    providerRefundId: p.text().strictNullable(),
    providerSubmissionStatus: p.text().strictNullable(),
    providerSubmittedAt: timestampColumn().strictNullable(),
    providerReportedAt: timestampColumn().strictNullable(),
    requestedAt: timestampColumn(),
    statusChangedAt: timestampColumn(),
    updatedAt: timestampColumn(),
  },
});

export const DisputeEntity = defineEntity({
  name: 'Dispute',
  tableName: 'dispute',
  schema: 'refunds',
  properties: {
    ...tenantColumns,
    id: p.uuid().primary(),
    paymentIntentId: p.uuid(),
    saleId: p.uuid().strictNullable(),
    amountMinor: amountColumn().strictNullable(),
    reason: p.string().$type<DisputeReason>(),
    openedAt: timestampColumn(),
    dueAt: timestampColumn().strictNullable(),
    responseText: p.text().strictNullable(),
    respondedAt: timestampColumn().strictNullable(),
    responseSubmittedAt: timestampColumn().strictNullable(),
    evidenceCount: p.integer(),
    closedAt: timestampColumn().strictNullable(),
    outcome: p.string().$type<DisputeOutcome>().strictNullable(),
    lostMinor: amountColumn().strictNullable(),
    reversedAt: timestampColumn().strictNullable(),
  },
});

export type PaymentRow = InferEntity<typeof PaymentEntity>;
export type RefundCaseRow = InferEntity<typeof RefundCaseEntity>;
export type DisputeRow = InferEntity<typeof DisputeEntity>;
