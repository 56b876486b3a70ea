import type {
  GetAdvanceQuoteRequest,
  GetAdvanceQuoteResponse,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import type { Database } from '../platform/database/database.ts';
import { tenantOf } from '../platform/tenant.ts';
import { quoteMessage } from './advance.message.ts';
import { selectQuote, selectQuoteInstallments, selectRequest } from './advance.queries.ts';
import { advanceRequestIdOf } from './advance-request.ts';
import { quoteNotFound } from './quote-errors.ts';

/** One quote, also one that can no longer be requested, and its request. */
export async function getAdvanceQuote(
  database: Database,
  request: GetAdvanceQuoteRequest,
): Promise<GetAdvanceQuoteResponse> {
  const tenant = tenantOf(request);
  const quoteId = request.quoteId.toLowerCase();
  const [quote, installments, requested] = await Promise.all([
    database.readOne(selectQuote({ ...tenant, id: quoteId })),
    database.read(selectQuoteInstallments({ ...tenant, quoteId })),
    database.readOne(selectRequest({ ...tenant, id: advanceRequestIdOf(quoteId) })),
  ]);
  if (!quote) throw quoteNotFound();
  return {
    $typeName: 'payments.advances.v1.GetAdvanceQuoteResponse',
    quote: quoteMessage(quote, installments),
    advanceRequestId: requested?.id,
    stale: quote.stale,
  };
}
