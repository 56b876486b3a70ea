import { defineEntity, type InferEntity, type Opt, p } from '@mikro-orm/postgresql';
import { amountColumn, tenantColumns, timestampColumn } from '../platform/database/tenant-columns.ts';
import type { BlockReason, ReleaseStatus } from './sales/installment.ts';
import type { SaleMethod } from './sales/sale-schedule.ts';
import type { SaleStatus } from './sales/sale-status.ts';

const REMAINING =
  'bigint generated always as (gross_minor - fees_minor - deducted_minor - advanced_minor) stored';

export const AccountEntity = defineEntity({
  name: 'FundsAccount',
  tableName: 'account',
  schema: 'funds',
  properties: { ...tenantColumns, scheduleId: p.uuid() },
});

export const SaleEntity = defineEntity({
  name: 'Sale',
  tableName: 'sale',
  schema: 'funds',
  properties: {
    ...tenantColumns,
    id: p.uuid().primary(),
    method: p.string().$type<SaleMethod>(),
    grossMinor: amountColumn(),
    feesMinor: amountColumn(),
    installments: p.integer(),
    capturedAt: timestampColumn(),
    orderId: p.uuid().strictNullable(),
    orderNumber: p.text().strictNullable(),
    productId: p.uuid().strictNullable(),
    customerReference: p.text().strictNullable(),
    status: p.string().$type<SaleStatus>(),
  },
});

export const InstallmentEntity = defineEntity({
  name: 'Installment',
  tableName: 'installment',
  schema: 'funds',
  properties: {
    ...tenantColumns,
    id: p.uuid().primary(),
    saleId: p.uuid(),
    number: p.integer(),
    part: p.integer(),
    split: p.boolean(),
    date: p.date(),
    grossMinor: amountColumn(),
    feesMinor: amountColumn(),
    deductedMinor: amountColumn(),
    advancedMinor: amountColumn(),
    remainingMinor: amountColumn().$type<Opt<bigint>>().generated(REMAINING),
    status: p.string().$type<ReleaseStatus>(),
    released: p.boolean(),
    reservedFor: p.uuid().strictNullable(),
    reservedMinor: amountColumn().strictNullable(),
    heldBy: p.array().columnType('uuid[]').$type<string[]>(),
    version: amountColumn(),
  },
});

export const BlockEntity = defineEntity({
  name: 'FundsBlock',
  tableName: 'block',
  schema: 'funds',
  properties: {
    ...tenantColumns,
    id: p.uuid().primary(),
    saleId: p.uuid(),
    reason: p.string().$type<BlockReason>(),
    sourceId: p.uuid(),
    amountMinor: amountColumn().strictNullable(),
    openedAt: timestampColumn(),
    closedAt: timestampColumn().strictNullable(),
    outcome: p.string().$type<'RETURNED' | 'CONSUMED' | 'REVERSED'>().strictNullable(),
  },
});

export const ReleaseEntity = defineEntity({
  name: 'FundsRelease',
  tableName: 'release',
  schema: 'funds',
  properties: {
    ...tenantColumns,
    date: p.date().primary(),
    status: p.string().$type<ReleaseStatus>().primary(),
    grossMinor: amountColumn(),
    feesMinor: amountColumn(),
    deductedMinor: amountColumn(),
    advancedMinor: amountColumn(),
    remainingMinor: amountColumn().$type<Opt<bigint>>().generated(REMAINING),
    salesCount: p.integer(),
    firstParts: p.integer(),
    heldByDispute: p.integer(),
    heldByRefund: p.integer(),
    heldByKyc: p.integer(),
    heldByCompliance: p.integer(),
  },
});

export const DeductionEntity = defineEntity({
  name: 'Deduction',
  tableName: 'deduction',
  schema: 'funds',
  properties: {
    ...tenantColumns,
    sourceId: p.uuid().primary(),
    saleId: p.uuid().strictNullable(),
    amountMinor: amountColumn(),
    openDebtMinor: amountColumn(),
    occurredAt: timestampColumn(),
    canceledDebtMinor: amountColumn(),
    reversedAt: timestampColumn().strictNullable(),
    raisedAt: timestampColumn().strictNullable(),
    reason: p.text().strictNullable(),
  },
});

export const DebtPaymentEntity = defineEntity({
  name: 'DebtPayment',
  tableName: 'debt_payment',
  schema: 'funds',
  properties: {
    ...tenantColumns,
    paymentId: p.uuid().primary(),
    sourceId: p.uuid().primary(),
    amountMinor: amountColumn(),
    recordedAt: timestampColumn(),
  },
});

export const RefundDebitEntity = defineEntity({
  name: 'RefundDebit',
  tableName: 'refund_debit',
  schema: 'funds',
  properties: {
    ...tenantColumns,
    refundCaseId: p.uuid().primary(),
    saleId: p.uuid().strictNullable(),
    amountMinor: amountColumn(),
    debitedAt: timestampColumn(),
    reversedAt: timestampColumn().strictNullable(),
  },
});

export const PendingDebitEntity = defineEntity({
  name: 'PendingDebit',
  tableName: 'pending_debit',
  schema: 'funds',
  properties: {
    ...tenantColumns,
    refundCaseId: p.uuid().primary(),
    saleId: p.uuid().strictNullable(),
    amountMinor: amountColumn(),
    execution: p.integer(),
    requestedAt: timestampColumn(),
  },
});

export const EndedExecutionEntity = defineEntity({
  name: 'EndedExecution',
  tableName: 'ended_execution',
  schema: 'funds',
  properties: { ...tenantColumns, refundCaseId: p.uuid().primary(), execution: p.integer() },
});

export const ReservationEntity = defineEntity({
  name: 'Reservation',
  tableName: 'reservation',
  schema: 'funds',
  properties: {
    ...tenantColumns,
    advanceRequestId: p.uuid().primary(),
    state: p.string().$type<'HELD' | 'FREED' | 'SETTLED'>(),
    amountMinor: amountColumn(),
    firstDate: p.date(),
    lastDate: p.date(),
  },
});

export type PostingKind =
  | 'DEDUCTION'
  | 'DEBT'
  | 'DEDUCTION_REVERSAL'
  | 'CONSUMPTION'
  | 'CONSUMPTION_REVERSAL'
  | 'REFUND_DEBIT'
  | 'REFUND_REVERSAL'
  | 'ADVANCE';

export const PostingEntity = defineEntity({
  name: 'Posting',
  tableName: 'posting',
  schema: 'funds',
  properties: {
    ...tenantColumns,
    id: p.uuid().primary(),
    installmentId: p.uuid(),
    kind: p.string().$type<PostingKind>(),
    sourceId: p.uuid(),
    amountMinor: amountColumn(),
    postedAt: timestampColumn(),
  },
});

export type BlockRow = InferEntity<typeof BlockEntity>;
export type DeductionRow = InferEntity<typeof DeductionEntity>;
export type InstallmentRow = InferEntity<typeof InstallmentEntity>;
export type ReleaseEntityRow = InferEntity<typeof ReleaseEntity>;
