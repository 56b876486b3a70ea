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
import { type AdvanceDependencies, newFundsKey, onBehalfOf } from './funds-client.ts';
import { alreadyRequested, quoteExpired, quoteNotFound } from './quote-errors.ts';

/** A quote is requested at most once, under the one id that follows from the quote's: every step may be repeated. */
const REQUEST_ID_NAMESPACE = '3f0c6f3e-8f4b-4d4e-9d55-3a1f3c0a7b1e';

interface TakenUp {
  readonly quote: QuoteRow;
  readonly parts: readonly QuotePartRow[];
  readonly advanceRequestId: string;
}

/**
 * Takes a quote up in three steps: commit that it is wanted, which starts the workflow that completes a request left
 * half done; reserve the parts in funds; commit the request.
 */
export async function requestAdvance(
  { writes, funds }: AdvanceDependencies,
  request: RequestAdvanceRequest,
  context: HandlerContext,
) {
  const requestedAt = occurrenceOf(request, context);
  const replayed = await writes.replayed<typeof RequestAdvanceResponseSchema>(request, context);
  if (replayed) return replayed;
  const { merchantId, environment, quoteId, occurredAt } = request;
  const taken = await writes.transaction(tenantOf(request), requestIdOf(context), (tx) =>
    takeUp(tx, quoteId, requestedAt),
  );
  const { advanceRequestId } = taken;
  const parts = taken.parts.map(({ partId, version }) => ({ partId, version }));
  await funds.reserveForAdvance(
    { merchantId, environment, idempotencyKey: newFundsKey(), advanceRequestId, parts, occurredAt },
    onBehalfOf(context),
  );
  return writes.run<typeof RequestAdvanceResponseSchema>(request, context, async (tx) => {
    await requireUnrequested(tx, taken.quote.id);
    return { advanceRequest: await open(tx, taken, requestedAt) };
  });
}

async function takeUp(tx: TenantTransaction, quoteId: string, requestedAt: Date): Promise<TakenUp> {
  const quote = await tx.findOne(QuoteEntity, { id: quoteId });
  if (quote === null) throw quoteNotFound();
  await requireUnrequested(tx, quote.id);
  if (requestedAt >= quote.expiresAt) throw quoteExpired(quote.expiresAt);
  const parts = await tx.find(QuotePartEntity, { quoteId: quote.id });
  const advanceRequestId = uuidv5(quote.id, REQUEST_ID_NAMESPACE);
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
  return { quote, parts, advanceRequestId };
}

/** Locks the quote too, so that of two requests one commits and the other meets it. */
async function requireUnrequested(tx: TenantTransaction, quoteId: string): Promise<void> {
  await tx.lockOne(QuoteEntity, { id: quoteId });
  const request = await tx.findOne(AdvanceRequestEntity, { quoteId });
  if (request !== null) throw alreadyRequested(request.id);
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
