import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { type NotNull, sql } from 'kysely';
import { inOrder, type ListOrder, type PageSpec } from '../platform/reads/list-order.ts';
import { prepareRead, type ReadParameters } from '../platform/reads/prepared-read.ts';
import { queryBuilder } from '../platform/reads/query-builder.ts';
import type { ReadTable } from '../platform/reads/read-table.ts';
import { inScanOrder, type RecordScan } from '../platform/reads/record-scan.ts';
import type { EnvironmentName, Tenant } from '../platform/tenant.ts';
import type { AdvanceRequestEntity, RateEntity } from './advance.entity.ts';
import { STUCK_AFTER_ATTEMPTS } from './advance-payout.ts';

/** A request as hot reads answer it; amounts in centavos. */
export type AdvanceRequestReadRow = ReadTable<typeof AdvanceRequestEntity>;

/** A rate of a merchant; null is the default. */
export type RateReadRow = ReadTable<typeof RateEntity>;

const db = queryBuilder<{ 'advances.rate': RateReadRow; 'advances.request': AdvanceRequestReadRow }>();

function requests(parameters: ReadParameters<Tenant>) {
  return db
    .selectFrom('advances.request')
    .selectAll()
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'));
}

interface RequestKey extends Tenant {
  readonly id: string;
}

/** One request by its id. */
export const selectRequest = prepareRead<RequestKey, AdvanceRequestReadRow>((parameters) =>
  requests(parameters).where('id', '=', parameters('id')).compile(),
);

/** Requests are listed newest first. */
export const requestOrder: ListOrder<AdvanceRequestReadRow> = {
  columns: ['requested_at', 'id'],
  direction: 'desc',
};

/** A page of requests in their order. */
export const selectRequests = prepareRead<Tenant & PageSpec, AdvanceRequestReadRow>((parameters) =>
  inOrder(requests(parameters), requestOrder, parameters).compile(),
);

/** A request whose payout was submitted. */
type SubmittedReadRow = AdvanceRequestReadRow & { payout_submitted_at: Timestamp };

/** Stuck payouts are listed longest waiting first. */
export const stuckPayoutOrder: ListOrder<SubmittedReadRow> = {
  columns: ['payout_submitted_at', 'id'],
  direction: 'asc',
};

/** A page of stuck payouts; undefined filters are ignored. */
export interface StuckPayoutPage extends PageSpec {
  readonly merchantId: string | undefined;
  readonly environment: EnvironmentName | undefined;
}

/** A page of requests whose payout is stuck, across merchants. */
export const selectStuckPayouts = prepareRead<StuckPayoutPage, SubmittedReadRow>((parameters) => {
  let query = db
    .selectFrom('advances.request')
    .selectAll()
    // Literals, not parameters: only then does the planner use the partial index on stuck payouts.
    .where('payout_accepted_at', 'is', null)
    .where('payout_attempts', '>=', sql.lit(STUCK_AFTER_ATTEMPTS))
    .$narrowType<{ payout_submitted_at: NotNull }>();
  if (parameters.has('merchantId')) query = query.where('merchant_id', '=', parameters('merchantId'));
  if (parameters.has('environment')) query = query.where('environment', '=', parameters('environment'));
  return inOrder(query, stuckPayoutOrder, parameters).compile();
});

/** A page of all requests, across merchants. */
export const scanRequests = prepareRead<RecordScan, AdvanceRequestReadRow>((parameters) =>
  inScanOrder(db.selectFrom('advances.request').selectAll(), 'id', parameters).compile(),
);

/** The rate in effect at a time, if the merchant has set one by then. */
export const selectRate = prepareRead<Tenant & { readonly at: Date }, RateReadRow>((parameters) =>
  db
    .selectFrom('advances.rate')
    .selectAll()
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .where(sql<boolean>`effective_from <= ${parameters('at')}`)
    .orderBy('effective_from', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .compile(),
);
