import {
  type AdvanceRequest,
  AdvanceRequestStatus,
} from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import {
  BlockReason,
  type FundsRelease,
  FundsReleaseStatus,
  type ReleaseSale,
  type Sale,
  SaleMethod,
  SaleStatus,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import {
  type Dispute,
  DisputeReason,
  type RefundCase,
  RefundCaseStatus,
  RefundInitiator,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { enumName } from '../../../services/platform/enum-name.ts';
import { openPayout } from '../advances/advance-status.ts';
import { stateOf } from '../disputes/dispute.components.ts';
import type { Allocation } from '../funds/release.components.ts';
import type { CsvColumn } from './csv.ts';
import { csvDate, csvTime } from './csv-download.ts';

const reasonNames = (reasons: readonly BlockReason[]) =>
  reasons.map((reason) => enumName(BlockReason, reason)).join(' ');

/** Amounts of releases, or of sales in them. */
const allocationColumns = <Row extends Allocation>(): readonly CsvColumn<Row>[] => [
  { name: 'gross_amount', isSum: true, cell: (row) => row.grossAllocatedAmountMinor },
  { name: 'fees_amount', isSum: true, cell: (row) => row.feesAllocatedAmountMinor },
  { name: 'net_amount', isSum: true, cell: (row) => row.originalAmountMinor },
  { name: 'deducted_amount', isSum: true, cell: (row) => row.deductionsAmountMinor },
  { name: 'advanced_amount', isSum: true, cell: (row) => row.advancedAmountMinor },
  { name: 'blocked_amount', isSum: true, cell: (row) => row.blockedAmountMinor },
  { name: 'released_amount', isSum: true, cell: (row) => row.releasedAmountMinor },
  { name: 'scheduled_amount', isSum: true, cell: (row) => row.scheduledAmountMinor },
  { name: 'blocked_reasons', cell: (row) => reasonNames(row.blockedReasons) },
];

export const RELEASE_COLUMNS: readonly CsvColumn<FundsRelease>[] = [
  { name: 'date', cell: ({ date }) => date },
  { name: 'status', cell: ({ status }) => enumName(FundsReleaseStatus, status) },
  { name: 'sales_count', cell: ({ salesCount }) => salesCount },
  ...allocationColumns<FundsRelease>(),
];

const soldColumns = <Row>(saleOf: (row: Row) => Sale): readonly CsvColumn<Row>[] => [
  { name: 'sale_id', cell: (row) => saleOf(row).id },
  { name: 'captured_at', cell: (row) => csvTime(saleOf(row).capturedAt) },
  { name: 'captured_on', cell: (row) => csvDate(saleOf(row).capturedAt) },
  { name: 'method', cell: (row) => enumName(SaleMethod, saleOf(row).method) },
  { name: 'installments', cell: (row) => saleOf(row).installments },
  { name: 'sale_status', cell: (row) => enumName(SaleStatus, saleOf(row).status) },
  { name: 'order_number', cell: (row) => saleOf(row).orderNumber },
  { name: 'order_id', cell: (row) => saleOf(row).orderId },
  { name: 'product_id', cell: (row) => saleOf(row).productId },
  { name: 'customer_reference', cell: (row) => saleOf(row).customerReference },
];

export const SALE_COLUMNS: readonly CsvColumn<Sale>[] = [
  ...soldColumns<Sale>((sale) => sale),
  { name: 'gross_amount', isSum: true, cell: (sale) => sale.grossAmountMinor },
  { name: 'fees_amount', isSum: true, cell: (sale) => sale.feesAmountMinor },
  { name: 'net_amount', isSum: true, cell: (sale) => sale.originalAmountMinor },
  { name: 'deducted_amount', isSum: true, cell: (sale) => sale.deductionsAmountMinor },
  { name: 'advanced_amount', isSum: true, cell: (sale) => sale.advancedAmountMinor },
  { name: 'blocked_amount', isSum: true, cell: (sale) => sale.blockedAmountMinor },
  { name: 'released_amount', isSum: true, cell: (sale) => sale.releasedAmountMinor },
  { name: 'scheduled_amount', isSum: true, cell: (sale) => sale.scheduledAmountMinor },
];

export const RELEASE_SALE_COLUMNS: readonly CsvColumn<ReleaseSale>[] = [
  ...soldColumns<ReleaseSale>(({ sale }) => sale!),
  { name: 'installment', cell: ({ installment }) => installment },
  ...allocationColumns<ReleaseSale>(),
];

export const REFUND_COLUMNS: readonly CsvColumn<RefundCase>[] = [
  { name: 'refund_case_id', cell: ({ id }) => id },
  { name: 'requested_at', cell: ({ requestedAt }) => csvTime(requestedAt) },
  { name: 'requested_on', cell: ({ requestedAt }) => csvDate(requestedAt) },
  { name: 'status', cell: ({ status }) => enumName(RefundCaseStatus, status) },
  { name: 'initiator', cell: ({ initiator }) => enumName(RefundInitiator, initiator) },
  { name: 'amount', isSum: true, cell: ({ amountMinor }) => amountMinor },
  { name: 'payment_intent_id', cell: ({ paymentIntentId }) => paymentIntentId },
  { name: 'sale_id', cell: ({ saleId }) => saleId },
  { name: 'order_id', cell: ({ orderId }) => orderId },
  { name: 'provider_refund_id', cell: ({ provider }) => provider?.refundId },
  { name: 'updated_at', cell: ({ updatedAt }) => csvTime(updatedAt) },
  { name: 'reason', cell: ({ reason }) => reason },
];

/** A dispute with its net deduction; undefined if it has deducted nothing. */
type ExportedDispute = Dispute & { readonly deductedAmountMinor: bigint | undefined };

export const DISPUTE_COLUMNS: readonly CsvColumn<ExportedDispute>[] = [
  { name: 'dispute_id', cell: ({ id }) => id },
  { name: 'opened_at', cell: ({ openedAt }) => csvTime(openedAt) },
  { name: 'opened_on', cell: ({ openedAt }) => csvDate(openedAt) },
  { name: 'status', cell: stateOf },
  { name: 'reason', cell: ({ reason }) => enumName(DisputeReason, reason) },
  { name: 'amount', isSum: true, cell: ({ amountMinor }) => amountMinor },
  { name: 'due_at', cell: ({ dueAt }) => csvTime(dueAt) },
  { name: 'due_on', cell: ({ dueAt }) => csvDate(dueAt) },
  { name: 'payment_intent_id', cell: ({ paymentIntentId }) => paymentIntentId },
  { name: 'sale_id', cell: ({ saleId }) => saleId },
  { name: 'closed_at', cell: ({ closedAt }) => csvTime(closedAt) },
  { name: 'closed_on', cell: ({ closedAt }) => csvDate(closedAt) },
  { name: 'deducted_amount', isSum: true, cell: ({ deductedAmountMinor }) => deductedAmountMinor },
];

export const ADVANCE_COLUMNS: readonly CsvColumn<AdvanceRequest>[] = [
  { name: 'advance_request_id', cell: ({ id }) => id },
  { name: 'requested_at', cell: ({ requestedAt }) => csvTime(requestedAt) },
  { name: 'requested_on', cell: ({ requestedAt }) => csvDate(requestedAt) },
  { name: 'reviewed_at', cell: ({ reviewedAt }) => csvTime(reviewedAt) },
  { name: 'released_at', cell: ({ releasedAt }) => csvTime(releasedAt) },
  { name: 'status', cell: ({ status }) => enumName(AdvanceRequestStatus, status) },
  { name: 'amount', isSum: true, cell: ({ amountMinor }) => amountMinor },
  { name: 'fee_amount', isSum: true, cell: ({ feeAmountMinor }) => feeAmountMinor },
  { name: 'net_amount', isSum: true, cell: ({ netAmountMinor }) => netAmountMinor },
  { name: 'payout_status', cell: (request) => openPayout(request) ?? (request.payout && 'PAID') },
  { name: 'paid_at', cell: ({ payout }) => csvTime(payout?.acceptedAt) },
  { name: 'paid_on', cell: ({ payout }) => csvDate(payout?.acceptedAt) },
  { name: 'provider_payout_id', cell: ({ payout }) => payout?.providerPayoutId },
];
