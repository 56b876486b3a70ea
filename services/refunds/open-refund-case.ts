import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { Client, HandlerContext } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import type { ProductService } from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import {
  ApprovalMode,
  type OpenRefundCaseRequest,
  type OpenRefundCaseResponseSchema,
  RefundInitiator,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import * as merchantReview from '../contracts/refunds/merchant-review.contract.ts';
import * as refundHold from '../contracts/refunds/refund-hold.contract.ts';
import { enumName } from '../platform/enum-name.ts';
import { readFor } from '../platform/rpc/call-context.ts';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { committedMinor, unclaimedMinor } from './payments/payment-amounts.ts';
import {
  type PaymentFacts,
  refundWindowExpiresAt,
  requireLeftOfSale,
  requireRefundable,
  requireSameFacts,
} from './payments/payment-facts.ts';
import { capturedSaleOf, lockRefundedSale, type SaleReads } from './payments/refunded-sale.ts';
import { type PaymentRow, RefundCaseEntity } from './refund-case.entity.ts';
import { publishEvents } from './refund-case.event.ts';
import { storedRefundCaseMessage } from './refund-case.message.ts';
import {
  executeIfApproved,
  lockPayment,
  paymentUseOf,
  type RefundExecutionMode,
} from './refund-case-store.ts';
import { exceededLimits } from './refund-limits.ts';
import type { RefundLimits } from './refund-policy.ts';
import { findReferenced } from './refund-reference.ts';
import { openCase } from './review/refund-review.ts';

export interface OpeningDependencies {
  readonly writes: Writes;
  readonly products: Client<typeof ProductService>;
  readonly sales: SaleReads;
  readonly limits: RefundLimits;
  readonly merchantReviewPeriodMs: number;
  readonly execution: RefundExecutionMode;
}

/**
 * Opens a refund case of a payment, or returns the one of its reference; policy, approval mode and initiator determine its first
 * status.
 */
export async function openRefundCase(
  { writes, products, sales, limits, merchantReviewPeriodMs, execution }: OpeningDependencies,
  request: OpenRefundCaseRequest,
  context: HandlerContext,
) {
  const at = occurredAtOf(request, context);
  const replayed = await writes.findReplay<typeof OpenRefundCaseResponseSchema>(request, context);
  if (replayed) return replayed;
  const productWindowDays = await productWindow(products, request, context);
  const captured = await capturedSaleOf(sales, request, context);
  return writes.run<typeof OpenRefundCaseResponseSchema>(request, context, async (tx) => {
    const payment = await lockPayment(tx, request.paymentIntentId);
    const facts = fixFacts(payment, request, productWindowDays);
    const opened = await findReferenced(tx, payment.id, request);
    if (opened) return { refundCase: storedRefundCaseMessage(opened) };
    const { amountMinor } = request;
    // Another case may have given the payment another sale since it was read.
    if (captured && captured.saleId === facts.saleId) payment.saleAmountMinor ??= captured.amountMinor;
    const use = await paymentUseOf(tx, payment.id);
    requireRefundable(facts, amountMinor, committedMinor(use), at);
    if (facts.saleId !== null) {
      const sale = await lockRefundedSale(tx, payment.id, facts.saleId, payment.saleAmountMinor);
      requireLeftOfSale(sale, facts, amountMinor);
    }
    const id = uuidv7();
    const exceeded = await exceededLimits(tx, limits, { id, amountMinor }, at);
    const disputed = amountMinor > unclaimedMinor(facts.paidAmountMinor, use);
    const opening = {
      initiator: enumName(RefundInitiator, request.initiator),
      approvalMode: request.approvalMode === undefined ? null : enumName(ApprovalMode, request.approvalMode),
      policyBlockers: disputed ? [...exceeded, 'PAYMENT_DISPUTED' as const] : exceeded,
      merchantReviewDeadlineAt: new Date(at.getTime() + merchantReviewPeriodMs),
    };
    const { refundCase, events } = openCase(opening, at);
    const row = tx.create(RefundCaseEntity, {
      ...refundCase,
      id,
      paymentIntentId: payment.id,
      amountMinor,
      blockedSince: null,
      evidenceCount: request.evidenceCount,
      reason: request.reason,
      refundReference: request.refundReference ?? null,
      saleId: facts.saleId,
      orderId: facts.orderId,
      invoiceId: facts.invoiceId,
      paymentPaidAt: facts.paidAt,
      refundWindowDays: facts.refundWindowDays,
      refundWindowExpiresAt: refundWindowExpiresAt(facts),
    });
    const { paymentIntentId, saleId, status, blockedBy } = row;
    const named = { refundCaseId: id, paymentIntentId, saleId, amountMinor: String(amountMinor) };
    tx.logStep('a refund case was opened', { ...named, status, blockedBy, events });
    await publishEvents(tx, row, events);
    const input = { ...tx.tenant, refundCaseId: row.id };
    if (row.status === 'MERCHANT_REVIEW') await tx.command(merchantReview.startCommand(input));
    if (row.saleId !== null) await tx.command(refundHold.startCommand(input));
    await executeIfApproved(tx, row, execution);
    return { refundCase: storedRefundCaseMessage(row) };
  });
}

/** The current refund window of the request's product, in days. NOT_FOUND (PRODUCT_NOT_FOUND). */
async function productWindow(
  products: Client<typeof ProductService>,
  request: OpenRefundCaseRequest,
  context: HandlerContext,
): Promise<number | undefined> {
  if (request.window.case !== 'productId') return undefined;
  const { merchantId, environment } = request;
  const { product } = await products.getProduct(
    { merchantId, environment, productId: request.window.value },
    readFor(context),
  );
  return product?.refundWindowDays;
}

/**
 * The payment's facts. Its first refund case sets them, and replaces a sale that only a dispute has named. A later
 * request must not contradict them.
 */
function fixFacts(
  payment: PaymentRow,
  request: OpenRefundCaseRequest,
  productWindowDays: number | undefined,
): PaymentFacts {
  const named = {
    paidAmountMinor: request.paidAmountMinor,
    paidAt: request.paidAt && timestampDate(request.paidAt),
    refundWindowDays: request.window.case === 'refundWindowDays' ? request.window.value : undefined,
    productId: request.window.case === 'productId' ? request.window.value.toLowerCase() : undefined,
    saleId: request.saleId?.toLowerCase(),
    orderId: request.orderId?.toLowerCase(),
    invoiceId: request.invoiceId?.toLowerCase(),
  };
  const { paidAmountMinor } = payment;
  if (paidAmountMinor !== null) {
    requireSameFacts(payment, named);
    return { ...payment, paidAmountMinor };
  }
  const first: PaymentFacts = {
    paidAmountMinor: named.paidAmountMinor,
    paidAt: named.paidAt ?? null,
    refundWindowDays: named.refundWindowDays ?? productWindowDays ?? null,
    productId: named.productId ?? null,
    saleId: named.saleId ?? payment.saleId,
    orderId: named.orderId ?? null,
    invoiceId: named.invoiceId ?? null,
  };
  Object.assign(payment, first);
  return first;
}
