import {
  type AdvancePayout,
  type AdvanceQuote,
  type AdvanceRate,
  type AdvanceRequest,
  AdvanceRequestStatus,
  PayoutAnswer,
  type QuoteInstallment,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { readRowOf } from '../platform/reads/read-table.ts';
import { environmentEnum } from '../platform/tenant.ts';
import type { AdvanceRequestRow } from './advance.entity.ts';
import type {
  AdvanceRequestReadRow,
  QuoteInstallmentReadRow,
  QuoteReadRow,
  RateReadRow,
} from './advance.queries.ts';

export function advanceRequestMessage(row: AdvanceRequestReadRow): AdvanceRequest {
  return {
    $typeName: 'payments.advances.v1.AdvanceRequest',
    id: row.id,
    merchantId: row.merchant_id,
    environment: environmentEnum(row.environment),
    quoteId: row.quote_id,
    scheduleId: row.schedule_id,
    amountMinor: row.amount_minor,
    feeAmountMinor: row.fee_minor,
    netAmountMinor: row.net_minor,
    status: AdvanceRequestStatus[row.status],
    requestedAt: row.requested_at,
    reviewedAt: row.reviewed_at ?? undefined,
    reviewReason: row.review_reason ?? undefined,
    releasedAt: row.released_at ?? undefined,
    payout: advancePayout(row),
  };
}

function advancePayout(row: AdvanceRequestReadRow): AdvancePayout | undefined {
  if (row.payout_submitted_at === null || row.payout_last_answer === null) return undefined;
  return {
    $typeName: 'payments.advances.v1.AdvancePayout',
    submittedAt: row.payout_submitted_at,
    attempts: row.payout_attempts,
    lastAnswerAt: row.payout_last_answer_at ?? undefined,
    lastAnswer: PayoutAnswer[row.payout_last_answer],
    lastReason: row.payout_last_reason ?? undefined,
    acceptedAt: row.payout_accepted_at ?? undefined,
    providerPayoutId: row.payout_provider_id ?? undefined,
  };
}

/** The message of a request inside a transaction. */
export const storedAdvanceRequestMessage = (row: AdvanceRequestRow): AdvanceRequest =>
  advanceRequestMessage(readRowOf(row));

export function quoteInstallmentMessage(row: QuoteInstallmentReadRow): QuoteInstallment {
  return {
    $typeName: 'payments.advances.v1.QuoteInstallment',
    installmentId: row.installment_id,
    date: row.date,
    amountMinor: row.amount_minor,
    feeAmountMinor: row.fee_minor,
    days: row.days,
  };
}

/** The message of the merchant's latest rate; `defaultRateBps` applies when there is none, or it is null. */
export function advanceRateMessage(latest: RateReadRow | undefined, defaultRateBps: number): AdvanceRate {
  const own = latest?.monthly_rate_bps ?? null;
  return {
    $typeName: 'payments.advances.v1.AdvanceRate',
    monthlyRateBps: own ?? defaultRateBps,
    isDefault: own === null,
    effectiveFrom: latest?.effective_from,
  };
}

/** The message of a quote with its installments, nearest first. */
export function quoteMessage(
  quote: QuoteReadRow,
  installments: readonly QuoteInstallmentReadRow[],
): AdvanceQuote {
  return {
    $typeName: 'payments.advances.v1.AdvanceQuote',
    id: quote.id,
    scheduleId: quote.schedule_id,
    amountMinor: quote.amount_minor,
    feeAmountMinor: quote.fee_minor,
    netAmountMinor: quote.net_minor,
    monthlyRateBps: quote.monthly_rate_bps,
    quotedAt: quote.quoted_at,
    expiresAt: quote.expires_at,
    installments: installments.map(quoteInstallmentMessage),
  };
}
