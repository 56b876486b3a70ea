import type { HandlerContext } from '@connectrpc/connect';
import { v5 as uuidv5 } from 'uuid';
import type {
  RequestAdvanceRequest,
  RequestAdvanceResponseSchema,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import * as advanceRequest from '../../workflows/advances/advance-request.contract.ts';
import { requestIdOf } from '../platform/call-context.ts';
import { tenantOf } from '../platform/tenant.ts';
import type { TenantTransaction } from '../platform/tenant-transaction.ts';
import { later, occurrenceOf } from '../platform/timestamps.ts';
import {
  AdvanceRequestEntity,
  QuoteEntity,
  QuotePartEntity,
  type QuotePartRow,
  type QuoteRow,
} from './advance.entity.ts';
import { advanceRequestMessageOf } from './advance.message.ts';
import { openRequest } from './advance-request.ts';
import { publishEvent } from './advance-store.ts';
import { type Asking, askerOf } from './asking.ts';
import { type AdvanceDependencies, newFundsKey, onBehalfOf } from './funds-client.ts';
import { alreadyRequested, QUOTE_EXPIRED, quoteExpired, quoteNotFound } from './quote-errors.ts';

/** A quote is requested at most once, under the one id that follows from the quote's: every step may be repeated. */
const REQUEST_ID_NAMESPACE = '3f0c6f3e-8f4b-4d4e-9d55-3a1f3c0a7b1e';

interface TakenUp {
  readonly quote: QuoteRow;
  readonly parts: readonly QuotePartRow[];
  readonly advanceRequestId: string;
  /** Whether the request stands already. */
  readonly requested: boolean;
}

/**
 * Takes a quote up in three steps: commit that it is wanted, which starts the workflow that completes a request left
 * half done; reserve the parts in funds; commit the request. Who has asked first is answered with the request when it
 * asks again, also when the workflow has made it.
 */
export async function requestAdvance(
  { writes, funds }: AdvanceDependencies,
  request: RequestAdvanceRequest,
  context: HandlerContext,
) {
  const at = occurrenceOf(request, context);
  const replayed = await writes.replayed<typeof RequestAdvanceResponseSchema>(request, context);
  if (replayed) return replayed;
  const { merchantId, environment, quoteId, occurredAt } = request;
  const asking = { at, by: askerOf(request, context) };
  const taken = await writes.transaction(tenantOf(request), requestIdOf(context), (tx) =>
    takeUp(tx, quoteId, asking),
  );
  const { quote, parts, advanceRequestId } = taken;
  if (quote.lapsed) throw quoteExpired(quote.expiresAt);
  const reservation = {
    merchantId,
    environment,
    idempotencyKey: newFundsKey(),
    advanceRequestId,
    occurredAt,
  };
  if (!taken.requested) {
    const quoted = parts.map(({ partId, version }) => ({ partId, version }));
    await funds.reserveForAdvance({ ...reservation, parts: quoted }, onBehalfOf(context));
  }
  const commit = (tx: TenantTransaction) => complete(tx, taken, asking);
  return writes.run<typeof RequestAdvanceResponseSchema>(request, context, commit).catch(async (error) => {
    // The workflow has been here before the reservation: nobody else would free it.
    if (error?.reason === QUOTE_EXPIRED) await funds.freeReservation(reservation, onBehalfOf(context));
    throw error;
  });
}

async function takeUp(tx: TenantTransaction, quoteId: string, { at, by }: Asking): Promise<TakenUp> {
  const { quote, request } = await lockQuote(tx, quoteId, by);
  const parts = await tx.find(QuotePartEntity, { quoteId: quote.id });
  const advanceRequestId = uuidv5(quote.id, REQUEST_ID_NAMESPACE);
  const taken = { quote, parts, advanceRequestId, requested: request !== null };
  if (taken.requested) return taken;
  quote.lapsed ||= at >= quote.expiresAt;
  if (quote.lapsed) return taken;
  quote.takenUpBy ??= by;
  const input: advanceRequest.CompleteAdvanceRequestInput = {
    ...tx.tenant,
    quoteId: quote.id,
    advanceRequestId,
  };
  await tx.command({
    kind: 'START',
    workflowType: advanceRequest.workflowType,
    workflowId: advanceRequest.workflowId(advanceRequestId),
    arguments: [input],
  });
  return taken;
}

/** The request, committed or met; a quote that has lapsed meanwhile has had its parts freed. */
async function complete(tx: TenantTransaction, taken: TakenUp, { at, by }: Asking) {
  const { quote, request } = await lockQuote(tx, taken.quote.id, by);
  if (request !== null) return { advanceRequest: advanceRequestMessageOf(request) };
  if (quote.lapsed) throw quoteExpired(quote.expiresAt);
  return { advanceRequest: await open(tx, taken, at) };
}

/** The quote, locked so that of two who ask one commits and the other meets its request. */
async function lockQuote(tx: TenantTransaction, id: string, by: string) {
  const quote = await tx.lockOne(QuoteEntity, { id });
  if (quote === null) throw quoteNotFound();
  const request = await tx.findOne(AdvanceRequestEntity, { quoteId: quote.id });
  if (request !== null && quote.takenUpBy !== by) throw alreadyRequested(request.id);
  return { quote, request };
}

async function open(tx: TenantTransaction, { quote, parts, advanceRequestId }: TakenUp, requestedAt: Date) {
  const at = later(quote.quotedAt, requestedAt);
  const { id: quoteId, scheduleId, amountMinor, feeMinor, netMinor } = quote;
  const dates = parts.map((part) => part.date);
  const row = tx.create(AdvanceRequestEntity, {
    id: advanceRequestId,
    ...{ quoteId, scheduleId, amountMinor, feeMinor, netMinor },
    ...openRequest(dates, at),
  });
  await publishEvent(tx, 'advance.requested.v1', row, at);
  return advanceRequestMessageOf(row);
}
