import type { HandlerContext } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import type {
  QuoteAdvanceRequest,
  QuoteAdvanceResponseSchema,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import type { Database } from '../platform/database/database.ts';
import { readRowOf } from '../platform/reads/read-table.ts';
import { readFor } from '../platform/rpc/call-context.ts';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import { tenantOf } from '../platform/tenant.ts';
import { QuoteEntity, QuoteInstallmentEntity } from './advance.entity.ts';
import { quoteMessage } from './advance.message.ts';
import { selectRate } from './advance.queries.ts';
import { quoteInstallments } from './advance-quote.ts';
import type { AdvanceDependencies } from './reservation-request.ts';

export interface QuoteSettings {
  /** The rate of merchants that have not set one, in basis points a month. */
  readonly defaultRateBps: number;
  readonly validityMs: number;
}

/** Quotes what can be advanced now. NOTHING_TO_ADVANCE. */
export async function quoteAdvance(
  { database, writes, funds }: AdvanceDependencies & { readonly database: Database },
  { defaultRateBps, validityMs }: QuoteSettings,
  request: QuoteAdvanceRequest,
  context: HandlerContext,
) {
  const quotedAt = occurredAtOf(request, context);
  const replayed = await writes.findReplay<typeof QuoteAdvanceResponseSchema>(request, context);
  if (replayed) return replayed;
  const { merchantId, environment, toDate, occurredAt, maxAmountMinor } = request;
  const schedule = await funds.listAdvanceableInstallments(
    { merchantId, environment, toDate, occurredAt },
    readFor(context),
  );
  const rate = await database.readOne(selectRate({ ...tenantOf(request), at: quotedAt }));
  const monthlyRateBps = rate?.monthly_rate_bps ?? defaultRateBps;
  const figures = quoteInstallments(schedule.installments, {
    quotedOn: schedule.today,
    monthlyRateBps,
    ...(maxAmountMinor !== undefined && { maxAmountMinor }),
  });
  return writes.run<typeof QuoteAdvanceResponseSchema>(request, context, async (tx) => {
    const quoteId = uuidv7();
    const quote = tx.create(QuoteEntity, {
      id: quoteId,
      scheduleId: schedule.scheduleId,
      amountMinor: figures.amountMinor,
      feeMinor: figures.feeMinor,
      netMinor: figures.netMinor,
      monthlyRateBps,
      quotedAt,
      expiresAt: new Date(quotedAt.getTime() + validityMs),
      expired: false,
      stale: false,
    });
    await tx.flush();
    const installments = figures.installments.map(
      ({ id: installmentId, version, date, amountMinor, feeMinor, days }) =>
        tx.create(QuoteInstallmentEntity, {
          quoteId,
          installmentId,
          version,
          date,
          amountMinor,
          feeMinor,
          days,
        }),
    );
    return { quote: quoteMessage(readRowOf(quote), installments.map(readRowOf)) };
  });
}
