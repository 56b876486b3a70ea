import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { InferKyselyTable } from '@mikro-orm/postgresql';
import { queryBuilder } from '../platform/database.ts';
import { inOrder, type ListOrder, type PageRange } from '../platform/list-order.ts';
import { prepareRead, type ReadParameters } from '../platform/prepared-read.ts';
import type { EnvironmentName, Tenant } from '../platform/tenant.ts';
import type { AdvanceRequestEntity } from './advance.entity.ts';
import type { AdvanceRequestStatus } from './advance-request.ts';

interface AdvanceTables {
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
