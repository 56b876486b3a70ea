import { defineEntity, type InferEntity, p } from '@mikro-orm/postgresql';
import { amountColumn, tenantColumns, timestampColumn } from '../platform/database/tenant-columns.ts';
import type { PayoutAnswerName } from './advance-payout.ts';
import type { AdvanceRequestStatus } from './advance-request.ts';

export const RateEntity = defineEntity({
  name: 'AdvanceRate',
  tableName: 'rate',
  schema: 'advances',
  properties: {
    ...tenantColumns,
    id: p.uuid().primary(),
    monthlyRateBps: p.integer().strictNullable(),
    effectiveFrom: timestampColumn(),
  },
});

export const QuoteEntity = defineEntity({
  name: 'AdvanceQuote',
  tableName: 'quote',
  schema: 'advances',
  properties: {
    ...tenantColumns,
    id: p.uuid().primary(),
    scheduleId: p.uuid(),
    amountMinor: amountColumn(),
    feeMinor: amountColumn(),
    netMinor: amountColumn(),
    monthlyRateBps: p.integer(),
    quotedAt: timestampColumn(),
    expiresAt: timestampColumn(),
    requestedBy: p.text().strictNullable(),
    expired: p.boolean(),
    stale: p.boolean(),
  },
});

export const QuoteInstallmentEntity = defineEntity({
  name: 'AdvanceQuoteInstallment',
  tableName: 'quote_installment',
  schema: 'advances',
  properties: {
    ...tenantColumns,
    quoteId: p.uuid().primary(),
    installmentId: p.uuid().primary(),
    version: amountColumn(),
    date: p.date(),
    amountMinor: amountColumn(),
    feeMinor: amountColumn(),
    days: p.integer(),
  },
});

export const AdvanceRequestEntity = defineEntity({
  name: 'AdvanceRequest',
  tableName: 'request',
  schema: 'advances',
  properties: {
    ...tenantColumns,
    id: p.uuid().primary(),
    quoteId: p.uuid(),
    scheduleId: p.uuid(),
    amountMinor: amountColumn(),
    feeMinor: amountColumn(),
    netMinor: amountColumn(),
    status: p.string().$type<AdvanceRequestStatus>(),
    requestedAt: timestampColumn(),
    reviewedAt: timestampColumn().strictNullable(),
    reviewReason: p.text().strictNullable(),
    releaseStartedAt: timestampColumn().strictNullable(),
    releaseStartedBy: p.text().strictNullable(),
    releasedAt: timestampColumn().strictNullable(),
    payoutSubmittedAt: timestampColumn().strictNullable(),
    payoutAttempts: p.integer(),
    payoutLastAnswerAt: timestampColumn().strictNullable(),
    payoutLastAnswer: p.string().$type<PayoutAnswerName>().strictNullable(),
    payoutLastReason: p.text().strictNullable(),
    payoutAcceptedAt: timestampColumn().strictNullable(),
    payoutProviderId: p.text().strictNullable(),
    firstDate: p.date(),
    lastDate: p.date(),
  },
});

export type QuoteRow = InferEntity<typeof QuoteEntity>;
export type QuoteInstallmentRow = InferEntity<typeof QuoteInstallmentEntity>;
export type AdvanceRequestRow = InferEntity<typeof AdvanceRequestEntity>;
