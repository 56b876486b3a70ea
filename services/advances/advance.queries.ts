import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { InferKyselyTable } from '@mikro-orm/postgresql';
import { queryBuilder } from '../platform/database/database.ts';
import { inOrder, type ListOrder, type PageRange } from '../platform/reads/list-order.ts';
import { prepareRead, type ReadParameters } from '../platform/reads/prepared-read.ts';
import type { EnvironmentName, Tenant } from '../platform/tenant.ts';
import type { AdvanceRequestEntity, RateEntity } from './advance.entity.ts';
import type { AdvanceRequestStatus } from './advance-request.ts';

interface AdvanceTables {
  'advances.rate': InferKyselyTable<typeof RateEntity>;
  'advances.request': InferKyselyTable<typeof AdvanceRequestEntity>;
}

/** A request as hot reads answer it; amounts in centavos. */
export interface AdvanceRequestReadRow {
  merchant_id: string;
  environment: EnvironmentName;
  id: string;
  quote_id: string;
  schedule_id: string;
  amount_minor: bigint;
  fee_minor: bigint;
  net_minor: bigint;
  status: AdvanceRequestStatus;
  requested_at: Timestamp;
  reviewed_at: Timestamp | null;
  review_reason: string | null;
  released_at: Timestamp | null;
}

/** A rate as it was set; null is the default. */
export interface RateReadRow {
  monthly_rate_bps: number | null;
  effective_from: Timestamp;
}

const db = queryBuilder<AdvanceTables>();

function requests(parameters: ReadParameters<Tenant>) {
  return db
    .selectFrom('advances.request')
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .select(['merchant_id', 'environment', 'id', 'quote_id', 'schedule_id', 'amount_minor', 'fee_minor'])
    .select(['net_minor', 'status', 'requested_at', 'reviewed_at', 'review_reason', 'released_at']);
}

interface RequestKey extends Tenant {
  readonly id: string;
}

/** One request by its id. */
export const selectRequest = prepareRead<RequestKey, AdvanceRequestReadRow>((parameters) =>
  requests(parameters).where('id', '=', parameters('id')).$castTo<AdvanceRequestReadRow>().compile(),
);

/** Requests are listed newest first. */
export const requestOrder: ListOrder<AdvanceRequestReadRow> = {
  columns: ['requested_at', 'id'],
  direction: 'desc',
};

/** A page of requests in their order. */
export const selectRequests = prepareRead<Tenant & PageRange, AdvanceRequestReadRow>((parameters) =>
  inOrder(requests(parameters), requestOrder, parameters).$castTo<AdvanceRequestReadRow>().compile(),
);

/** The rate that counts at a time, if any was set by then. */
export const selectRate = prepareRead<Tenant & { readonly at: Date }, RateReadRow>((parameters) =>
  db
    .selectFrom('advances.rate')
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .where('effective_from', '<=', parameters('at'))
    .select(['monthly_rate_bps', 'effective_from'])
    .orderBy('effective_from', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .$castTo<RateReadRow>()
    .compile(),
);
