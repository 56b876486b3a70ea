import {
  BlockReason,
  FundsReleaseStatus,
  type ReleaseSale,
  type Sale,
  type SaleInstallment,
  SaleMethod,
  SaleStatus,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { BLOCK_REASONS } from './installment.ts';
import type { ReleaseSaleReadRow, SaleInstallmentReadRow, SaleReadRow } from './sale.queries.ts';

export function saleMessage(row: SaleReadRow): Sale {
  return {
    $typeName: 'payments.funds.v1.Sale',
    id: row.id,
    method: SaleMethod[row.method],
    grossAmountMinor: row.gross_minor,
    feesAmountMinor: row.fees_minor,
    installments: row.installments,
    capturedAt: row.captured_at,
    status: SaleStatus[row.status],
    ...(row.order_id !== null && { orderId: row.order_id }),
    ...(row.order_number !== null && { orderNumber: row.order_number }),
    ...(row.product_id !== null && { productId: row.product_id }),
    ...(row.customer_reference !== null && { customerReference: row.customer_reference }),
    originalAmountMinor: row.gross_minor - row.fees_minor,
    deductionsAmountMinor: row.deducted_minor,
    advancedAmountMinor: row.advanced_minor,
    blockedAmountMinor: row.blocked_minor,
    releasedAmountMinor: row.released_minor,
    scheduledAmountMinor: row.scheduled_minor,
  };
}

export function installmentMessage(row: SaleInstallmentReadRow): SaleInstallment {
  return {
    $typeName: 'payments.funds.v1.SaleInstallment',
    id: row.installment_id,
    number: row.number,
    part: row.part,
    date: row.date,
    grossAmountMinor: row.installment_gross_minor,
    feesAmountMinor: row.installment_fees_minor,
    originalAmountMinor: row.installment_gross_minor - row.installment_fees_minor,
    deductionsAmountMinor: row.installment_deducted_minor,
    advancedAmountMinor: row.installment_advanced_minor,
    status: FundsReleaseStatus[row.installment_status],
    blocks: (row.blocks ?? []).map(({ reason, source_id: sourceId }) => {
      return { $typeName: 'payments.funds.v1.InstallmentBlock', reason: BlockReason[reason], sourceId };
    }),
    advanceRequestIds: row.advance_request_ids ?? [],
  };
}

/** The message of a sale behind a release row or a day. */
export function releaseSaleMessage(row: ReleaseSaleReadRow): ReleaseSale {
  const reasons = row.in_row_blocked_minor > 0n ? row.blocked_reasons : null;
  return {
    $typeName: 'payments.funds.v1.ReleaseSale',
    sale: saleMessage(row),
    installment: row.number,
    originalAmountMinor: row.in_row_gross_minor - row.in_row_fees_minor,
    grossAllocatedAmountMinor: row.in_row_gross_minor,
    feesAllocatedAmountMinor: row.in_row_fees_minor,
    deductionsAmountMinor: row.in_row_deducted_minor,
    advancedAmountMinor: row.in_row_advanced_minor,
    blockedAmountMinor: row.in_row_blocked_minor,
    releasedAmountMinor: row.in_row_released_minor,
    scheduledAmountMinor: row.in_row_scheduled_minor,
    blockedReasons: BLOCK_REASONS.filter((name) => reasons?.includes(name)).map((name) => BlockReason[name]),
  };
}
