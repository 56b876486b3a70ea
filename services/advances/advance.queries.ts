import { sql } from 'kysely';
import type { CivilDate } from '../platform/civil-date.ts';
import { inOrder, type ListOrder, type PageRange } from '../platform/reads/list-order.ts';
import { prepareRead, type ReadParameters } from '../platform/reads/prepared-read.ts';
import { queryBuilder } from '../platform/reads/query-builder.ts';
import { columnsOf, type ReadTable } from '../platform/reads/read-table.ts';
import { inScanOrder, type RecordScan } from '../platform/reads/record-scan.ts';
import { startOf } from '../platform/reads/start-of-date.ts';
import type { RecordKey, Tenant } from '../platform/tenant.ts';
import { AdvanceRequestEntity, QuoteEntity, QuoteInstallmentEntity, RateEntity } from './advance.entity.ts';
import type { AdvanceRequestStatus } from './advance-request.ts';

/** A request as hot reads return it; amounts in centavos. */
export type AdvanceRequestReadRow = ReadTable<typeof AdvanceRequestEntity>;

/** A rate of a merchant; null is the default. */
export type RateReadRow = ReadTable<typeof RateEntity>;

/** A quote; amounts in centavos. */
export type QuoteReadRow = ReadTable<typeof QuoteEntity>;

/** An installment that a quote covers. */
export type QuoteInstallmentReadRow = ReadTable<typeof QuoteInstallmentEntity>;

const db = queryBuilder<{
  'advances.quote': QuoteReadRow;
  'advances.quote_installment': QuoteInstallmentReadRow;
  'advances.rate': RateReadRow;
  'advances.request': AdvanceRequestReadRow;
}>();

function requests(parameters: ReadParameters<Tenant>) {
  return db
    .selectFrom('advances.request')
    .select(columnsOf(AdvanceRequestEntity))
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'));
}

export const selectRequest = prepareRead<RecordKey, AdvanceRequestReadRow>((parameters) =>
  requests(parameters).where('id', '=', parameters('id')).compile(),
);

/** One quote by its id. */
export const selectQuote = prepareRead<RecordKey, QuoteReadRow>((parameters) =>
  db
    .selectFrom('advances.quote')
    .select(columnsOf(QuoteEntity))
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .where('id', '=', parameters('id'))
    .compile(),
);

/** The installments that a quote covers, nearest first. */
export const selectQuoteInstallments = prepareRead<
  Tenant & { readonly quoteId: string },
  QuoteInstallmentReadRow
>((parameters) =>
  db
    .selectFrom('advances.quote_installment')
    .select(columnsOf(QuoteInstallmentEntity))
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .where('quote_id', '=', parameters('quoteId'))
    .orderBy('date')
    .orderBy('installment_id')
    .compile(),
);

/** Requests are listed newest first. */
export const requestOrder: ListOrder<AdvanceRequestReadRow> = {
  columns: ['requested_at', 'id'],
  direction: 'desc',
};

/** Which of a merchant's requests to list; undefined filters are ignored. */
export interface RequestFilter {
  /** Dates of the request, inclusive. */
  readonly from: CivilDate | undefined;
  readonly to: CivilDate | undefined;
  readonly status: AdvanceRequestStatus | undefined;
  readonly providerPayoutId: string | undefined;
}

export const selectRequests = prepareRead<Tenant & RequestFilter & PageRange, AdvanceRequestReadRow>(
  (parameters) => inOrder(matchingRequests(parameters), requestOrder, parameters).compile(),
);

/** The requests that match in one state; sums in centavos, as text: they may exceed 64 bits. */
export interface RequestTotalRow {
  status: AdvanceRequestStatus;
  count: number;
  amount_minor: string;
  fee_minor: string;
  net_minor: string;
}

/** The sums of the requests that match, by status. */
export const selectRequestTotals = prepareRead<Tenant & RequestFilter, RequestTotalRow>((parameters) =>
  db
    .selectFrom(matchingRequests(parameters).as('matching'))
    .select(['status', sql<number>`count(*)::int`.as('count')])
    .select(sql<string>`sum(amount_minor)::text`.as('amount_minor'))
    .select(sql<string>`sum(fee_minor)::text`.as('fee_minor'))
    .select(sql<string>`sum(net_minor)::text`.as('net_minor'))
    .groupBy('status')
    .compile(),
);

function matchingRequests(parameters: ReadParameters<Tenant & RequestFilter>) {
  let query = requests(parameters);
  if (parameters.has('from')) query = query.where('requested_at', '>=', startOf(parameters('from'), 0));
  if (parameters.has('to')) query = query.where('requested_at', '<', startOf(parameters('to'), 1));
  if (parameters.has('status')) query = query.where('status', '=', parameters('status'));
  if (parameters.has('providerPayoutId')) {
    query = query.where('payout_provider_id', '=', parameters('providerPayoutId'));
  }
  return query;
}

/** A page of all requests, across merchants. */
export const selectAllRequests = prepareRead<RecordScan, AdvanceRequestReadRow>((parameters) =>
  inScanOrder(
    db.selectFrom('advances.request').select(columnsOf(AdvanceRequestEntity)),
    'id',
    parameters,
  ).compile(),
);

/** The rate in effect at a time, if the merchant has set one by then. */
export const selectRate = prepareRead<Tenant & { readonly at: Date }, RateReadRow>((parameters) =>
  db
    .selectFrom('advances.rate')
    .select(columnsOf(RateEntity))
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .where(sql<boolean>`effective_from <= ${parameters('at')}`)
    .orderBy('effective_from', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .compile(),
);
