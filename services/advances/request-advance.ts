import type { HandlerContext } from '@connectrpc/connect';
import { v5 as uuidv5 } from 'uuid';
import type {
  RequestAdvanceRequest,
  RequestAdvanceResponseSchema,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import * as advanceRequest from '../contracts/advances/advance-request.contract.ts';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { requestIdOf } from '../platform/rpc/call-context.ts';
import { errorInfoOf } from '../platform/rpc/connect-errors.ts';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import { tenantOf } from '../platform/tenant.ts';
import { later } from '../platform/timestamps.ts';
import {
  AdvanceRequestEntity,
  QuoteEntity,
  QuoteInstallmentEntity,
  type QuoteInstallmentRow,
  type QuoteRow,
} from './advance.entity.ts';
import { advanceRequestMessageOf } from './advance.message.ts';
import { openRequest } from './advance-request.ts';
import { publishEvent } from './advance-store.ts';
import { type AdvanceDependencies, newFundsKey, onBehalfOf } from './funds-client.ts';
import {
  alreadyRequested,
  QUOTE_EXPIRED,
  QUOTE_STALE,
  quoteExpired,
  quoteNotFound,
  quoteStale,
} from './quote-errors.ts';
import { type Requester, requesterOf } from './requester.ts';

/** A quote is requested at most once, under the one id that follows from the quote's: every step may be repeated. */
const REQUEST_ID_NAMESPACE = '3f0c6f3e-8f4b-4d4e-9d55-3a1f3c0a7b1e';

/** After these no request of the quote can come to stand. */
const REFUSED_FOR_GOOD: ReadonlySet<string | undefined> = new Set([
  QUOTE_EXPIRED,
  QUOTE_STALE,
  'RESERVATION_FREED',
]);

/** Who asks for which quote. */
interface QuoteRequester extends Requester {
  readonly quoteId: string;
  readonly advanceRequestId: string;
  /** By the key that the workflow asks under: whoever has the quote, it is completed for them. */
  readonly completes: boolean;
}

interface TakenUp {
  readonly quote: QuoteRow;
  readonly installments: readonly QuoteInstallmentRow[];
  /** Whether the request stands already. */
  readonly requested: boolean;
}

/**
 * Takes a quote up in three steps: commit who has it, which starts the workflow that completes a request left half
 * done; reserve the installments in funds; commit the request. The first to commit has the quote, all others are refused. When
 * it asks again it is answered with the request, also when the workflow has made it.
 */
export async function requestAdvance(
  { writes, funds }: AdvanceDependencies,
  request: RequestAdvanceRequest,
  context: HandlerContext,
) {
  const at = occurredAtOf(request, context);
  const replayed = await writes.findReplay<typeof RequestAdvanceResponseSchema>(request, context);
  if (replayed) return replayed;
  const { merchantId, environment, occurredAt } = request;
  const quoteId = request.quoteId.toLowerCase();
  const advanceRequestId = uuidv5(quoteId, REQUEST_ID_NAMESPACE);
  const completes = request.idempotencyKey === advanceRequest.workflowId(advanceRequestId);
  const asking = { at, by: requesterOf(request, context), quoteId, advanceRequestId, completes };
  const inTransaction = <T>(work: (tx: TenantTransaction) => Promise<T>) =>
    writes.transaction(tenantOf(request), requestIdOf(context), work);
  const taken = await inTransaction((tx) => takeUp(tx, asking));
  const { quote, installments, requested } = taken;
  if (quote.expired) throw quoteExpired(quote.expiresAt);
  const reservation = {
    merchantId,
    environment,
    idempotencyKey: newFundsKey(),
    advanceRequestId,
    occurredAt,
  };
  if (!requested) {
    const quoted = installments.map(({ installmentId, version }) => ({ installmentId, version }));
    await funds
      .reserveForAdvance({ ...reservation, installments: quoted }, onBehalfOf(context))
      .catch(async (error: unknown) => {
        if (!REFUSED_FOR_GOOD.has(errorInfoOf(error)?.reason)) throw error;
        await inTransaction((tx) => giveUp(tx, asking));
      });
  }
  const commit = (tx: TenantTransaction) => complete(tx, taken, asking);
  return writes.run<typeof RequestAdvanceResponseSchema>(request, context, commit).catch(async (error) => {
    // What a quote that came to nothing has reserved, here or in a call beside this one.
    if (REFUSED_FOR_GOOD.has(error?.reason)) await funds.freeReservation(reservation, onBehalfOf(context));
    throw error;
  });
}

async function takeUp(tx: TenantTransaction, asking: QuoteRequester): Promise<TakenUp> {
  const { quoteId, advanceRequestId } = asking;
  const { quote, request } = await lockQuote(tx, asking);
  const installments = await tx.find(QuoteInstallmentEntity, { quoteId });
  const taken = { quote, installments, requested: request !== null };
  if (taken.requested) return taken;
  quote.expired ||= asking.at >= quote.expiresAt;
  if (quote.expired) return taken;
  if (quote.stale) throw quoteStale();
  quote.requestedBy ??= asking.by;
  await tx.command(advanceRequest.startCommand({ ...tx.tenant, quoteId, advanceRequestId }));
  return taken;
}

/** Funds have refused: unless the request stands by now, it never will. */
async function giveUp(tx: TenantTransaction, asking: QuoteRequester): Promise<void> {
  const { quote, request } = await lockQuote(tx, asking);
  quote.stale ||= request === null;
}

/** The request, committed or met. */
async function complete(tx: TenantTransaction, { installments }: TakenUp, asking: QuoteRequester) {
  const { quote, request } = await lockQuote(tx, asking);
  if (request !== null) return { advanceRequest: advanceRequestMessageOf(request) };
  if (quote.expired) throw quoteExpired(quote.expiresAt);
  if (quote.stale) throw quoteStale();
  return { advanceRequest: await open(tx, quote, installments, asking) };
}

/**
 * The quote and its request, if there is one, locked for who has taken it up, for its workflow, and for anybody while
 * nobody has. QUOTE_ALREADY_REQUESTED for others; a quote that has come to nothing is nobody's.
 */
async function lockQuote(tx: TenantTransaction, asking: QuoteRequester) {
  const { quoteId, advanceRequestId, by, completes } = asking;
  const quote = await tx.lockOne(QuoteEntity, { id: quoteId });
  if (quote === null) throw quoteNotFound();
  const request = await tx.findOne(AdvanceRequestEntity, { quoteId });
  const isOthers = quote.requestedBy != null && quote.requestedBy !== by && !completes;
  if (isOthers && !quote.expired && !quote.stale) throw alreadyRequested(advanceRequestId);
  return { quote, request };
}

async function open(
  tx: TenantTransaction,
  quote: QuoteRow,
  installments: readonly QuoteInstallmentRow[],
  { at, quoteId, advanceRequestId }: QuoteRequester,
) {
  const requestedAt = later(quote.quotedAt, at);
  const { scheduleId, amountMinor, feeMinor, netMinor } = quote;
  const dates = installments.map((installment) => installment.date);
  const row = tx.create(AdvanceRequestEntity, {
    id: advanceRequestId,
    ...{ quoteId, scheduleId, amountMinor, feeMinor, netMinor },
    ...openRequest(dates, requestedAt),
  });
  await publishEvent(tx, 'advance.requested.v1', row, requestedAt);
  return advanceRequestMessageOf(row);
}
