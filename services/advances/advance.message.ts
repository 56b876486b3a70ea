import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type AdvanceQuoteSchema,
  type AdvanceRate,
  type AdvanceRequest,
  AdvanceRequestStatus,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { environmentEnum } from '../platform/tenant.ts';
import { timestampOf } from '../platform/timestamps.ts';
import type { AdvanceRequestRow, QuoteInstallmentRow, QuoteRow } from './advance.entity.ts';
import type { AdvanceRequestReadRow, RateReadRow } from './advance.queries.ts';

/** A row of a hot read as the wire's request. */
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
  };
}

/** A request as it stands inside a transaction, as the wire's. */
export function advanceRequestMessageOf(row: AdvanceRequestRow): AdvanceRequest {
  return advanceRequestMessage({
    merchant_id: row.merchantId,
    environment: row.environment,
    id: row.id,
    quote_id: row.quoteId,
    schedule_id: row.scheduleId,
    amount_minor: row.amountMinor,
    fee_minor: row.feeMinor,
    net_minor: row.netMinor,
    status: row.status,
    requested_at: timestampOf(row.requestedAt),
    reviewed_at: timestampOf(row.reviewedAt) ?? null,
    review_reason: row.reviewReason ?? null,
    released_at: timestampOf(row.releasedAt) ?? null,
  });
}

/** The latest rate that was set, or none, as the wire's; `defaultRateBps` counts without one of the merchant's own. */
export function advanceRateMessage(latest: RateReadRow | undefined, defaultRateBps: number): AdvanceRate {
  const own = latest?.monthly_rate_bps ?? null;
  return {
    $typeName: 'payments.advances.v1.AdvanceRate',
    monthlyRateBps: own ?? defaultRateBps,
    isDefault: own === null,
    effectiveFrom: latest?.effective_from,
  };
}

/** A quote with its installments, nearest first, as the wire's. */
export function quoteMessage(
  quote: QuoteRow,
  installments: readonly QuoteInstallmentRow[],
): MessageInitShape<typeof AdvanceQuoteSchema> {
  return {
    id: quote.id,
    scheduleId: quote.scheduleId,
    amountMinor: quote.amountMinor,
    feeAmountMinor: quote.feeMinor,
    netAmountMinor: quote.netMinor,
    monthlyRateBps: quote.monthlyRateBps,
    quotedAt: timestampOf(quote.quotedAt),
    expiresAt: timestampOf(quote.expiresAt),
    installments: installments.map(({ installmentId, date, amountMinor, feeMinor: feeAmountMinor, days }) => {
      return { installmentId, date, amountMinor, feeAmountMinor, days };
    }),
  };
}
