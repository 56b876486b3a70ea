import type { HandlerContext } from '@connectrpc/connect';
import type {
  RequestAdvanceRequest,
  RequestAdvanceResponseSchema,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import * as advanceRequest from '../contracts/advances/advance-request.contract.ts';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { DomainError } from '../platform/errors.ts';
import { callFor } from '../platform/rpc/call-context.ts';
import { errorInfoOf } from '../platform/rpc/connect-errors.ts';
import { tenantOf } from '../platform/tenant.ts';
import { later } from '../platform/timestamps.ts';
import {
  AdvanceRequestEntity,
  QuoteEntity,
  QuoteInstallmentEntity,
  type QuoteInstallmentRow,
  type QuoteRow,
} from './advance.entity.ts';
import { publishEvent } from './advance.event.ts';
import { storedAdvanceRequestMessage } from './advance.message.ts';
import { NO_PAYOUT } from './advance-payout.ts';
import { advanceRequestIdOf, openRequest } from './advance-request.ts';
import {
  alreadyRequested,
  QUOTE_EXPIRED,
  QUOTE_STALE,
  quoteExpired,
  quoteNotFound,
  quoteStale,
} from './quote-errors.ts';
import { type Requester, requesterOf } from './requester.ts';
import { type AdvanceDependencies, reservationRequest } from './reservation-request.ts';

/** After these refusals no request of the quote can succeed. */
const FINAL_REFUSALS: ReadonlySet<string | undefined> = new Set([
  QUOTE_EXPIRED,
  QUOTE_STALE,
  'RESERVATION_FREED',
]);

interface QuoteRequester extends Requester {
  readonly quoteId: string;
  readonly advanceRequestId: string;
  /** Whether it is the workflow that completes the request on behalf of the requester. */
  readonly isWorkflow: boolean;
}

interface ClaimedQuote {
  readonly quote: QuoteRow;
  readonly installments: readonly QuoteInstallmentRow[];
  /** Whether the request exists already. */
  readonly isRequested: boolean;
}

/**
 * Requests a quoted advance in three steps: claim the quote, which starts the workflow that completes a request that
 * failed halfway; reserve the installments in funds; commit the request. The first requester to claim the quote keeps
 * it, and gets the request when they repeat the call, even if the workflow has made it; others are refused.
 */
export async function requestAdvance(
  { writes, funds }: AdvanceDependencies,
  request: RequestAdvanceRequest,
  context: HandlerContext,
) {
  const requester = quoteRequester(request, context);
  const replayed = await writes.findReplay<typeof RequestAdvanceResponseSchema>(request, context);
  if (replayed) return replayed;
  const inTransaction = <T>(work: (tx: TenantTransaction) => Promise<T>) =>
    writes.transaction(tenantOf(request), context, work);
  const claimed = await inTransaction((tx) => claimQuote(tx, requester));
  if (claimed.quote.expired) throw quoteExpired(claimed.quote.expiresAt);
  const reservation = reservationRequest({ ...request, advanceRequestId: requester.advanceRequestId });
  if (!claimed.isRequested) {
    const installments = claimed.installments.map(({ installmentId, version }) => ({
      installmentId,
      version,
    }));
    const reserving = funds.reserveForAdvance({ ...reservation, installments }, callFor(context));
    await reserving.catch(async (error: unknown) => {
      if (!FINAL_REFUSALS.has(errorInfoOf(error)?.reason)) throw error;
      await inTransaction((tx) => markStale(tx, requester));
    });
  }
  const commit = (tx: TenantTransaction) => commitRequest(tx, claimed, requester);
  return writes.run<typeof RequestAdvanceResponseSchema>(request, context, commit).catch(async (error) => {
    // This call or a concurrent one may have reserved installments for a quote that can no longer be requested.
    const isFinal = error instanceof DomainError && FINAL_REFUSALS.has(error.reason);
    if (isFinal) await funds.freeReservation(reservation, callFor(context));
    throw error;
  });
}

function quoteRequester(request: RequestAdvanceRequest, context: HandlerContext): QuoteRequester {
  const quoteId = request.quoteId.toLowerCase();
  const advanceRequestId = advanceRequestIdOf(quoteId);
  return {
    ...requesterOf(request, context),
    quoteId,
    advanceRequestId,
    isWorkflow: request.idempotencyKey === advanceRequest.workflowId(advanceRequestId),
  };
}

async function claimQuote(tx: TenantTransaction, requester: QuoteRequester): Promise<ClaimedQuote> {
  const { at, by, quoteId, advanceRequestId } = requester;
  const { quote, request } = await lockQuote(tx, requester);
  const installments = await tx.find(QuoteInstallmentEntity, { quoteId });
  const claimed = { quote, installments, isRequested: request !== null };
  if (claimed.isRequested) return claimed;
  quote.expired ||= at >= quote.expiresAt;
  // Returns instead of throwing, so that the transaction commits the expiry.
  if (quote.expired) return claimed;
  if (quote.stale) throw quoteStale();
  if (quote.requestedBy === null) {
    quote.requestedBy = by;
    await tx.command(advanceRequest.startCommand({ ...tx.tenant, quoteId, advanceRequestId }));
  }
  return claimed;
}

/** Funds have refused the installments, so the request never can be made, unless it exists by now. */
async function markStale(tx: TenantTransaction, requester: QuoteRequester): Promise<void> {
  const { quote, request } = await lockQuote(tx, requester);
  quote.stale ||= request === null;
}

/** Creates the request, or returns the existing one. */
async function commitRequest(tx: TenantTransaction, claimed: ClaimedQuote, requester: QuoteRequester) {
  const { quote, request } = await lockQuote(tx, requester);
  if (request !== null) return { advanceRequest: storedAdvanceRequestMessage(request) };
  if (quote.expired) throw quoteExpired(quote.expiresAt);
  if (quote.stale) throw quoteStale();
  return { advanceRequest: await createRequest(tx, quote, claimed.installments, requester) };
}

/**
 * The quote, locked, and its request, if any. Only its requester and the workflow may use a claimed quote:
 * QUOTE_ALREADY_REQUESTED for others, unless the quote has expired or become stale.
 */
async function lockQuote(tx: TenantTransaction, requester: QuoteRequester) {
  const { quoteId, advanceRequestId, by, isWorkflow } = requester;
  const quote = await tx.lockOne(QuoteEntity, { id: quoteId });
  if (quote === null) throw quoteNotFound();
  const request = await tx.findOne(AdvanceRequestEntity, { quoteId });
  const isOfAnother = quote.requestedBy !== null && quote.requestedBy !== by && !isWorkflow;
  if (isOfAnother && !quote.expired && !quote.stale) throw alreadyRequested(advanceRequestId);
  return { quote, request };
}

async function createRequest(
  tx: TenantTransaction,
  quote: QuoteRow,
  installments: readonly QuoteInstallmentRow[],
  { at, quoteId, advanceRequestId }: QuoteRequester,
) {
  const requestedAt = later(quote.quotedAt, at);
  const row = tx.create(AdvanceRequestEntity, {
    id: advanceRequestId,
    quoteId,
    scheduleId: quote.scheduleId,
    amountMinor: quote.amountMinor,
    feeMinor: quote.feeMinor,
    netMinor: quote.netMinor,
    ...NO_PAYOUT,
    ...openRequest(
      installments.map(({ date }) => date),
      requestedAt,
    ),
  });
  const amounts = { amountMinor: String(quote.amountMinor), netAmountMinor: String(quote.netMinor) };
  tx.logStep('an advance was requested', { advanceRequestId, quoteId, ...amounts, status: row.status });
  await publishEvent(tx, 'advance.requested.v1', row, requestedAt);
  return storedAdvanceRequestMessage(row);
}
