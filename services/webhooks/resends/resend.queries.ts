import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { InferKyselyTable } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { queryBuilder } from '../../platform/database/database.ts';
import { inOrder, type ListOrder, type PageRange } from '../../platform/reads/list-order.ts';
import { prepareRead, type ReadParameters } from '../../platform/reads/prepared-read.ts';
import type { EnvironmentName, Tenant } from '../../platform/tenant.ts';
import type { ResendEntity, ResendStateName } from './resend.entity.ts';

interface ResendTables {
  'webhooks.resend': InferKyselyTable<typeof ResendEntity>;
}

/** A resend as hot reads answer it, as of when its workflow last went on with it. */
export interface ResendReadRow {
  merchant_id: string;
  environment: EnvironmentName;
  id: string;
  state: ResendStateName;
  event_id: string | null;
  event_request_id: string | null;
  period_from: Timestamp | null;
  period_to: Timestamp | null;
  subscription_id: string | null;
  only_failed: boolean;
  created_at: Timestamp;
  ended_at: Timestamp | null;
  expected_count: bigint;
  made_count: bigint;
  open_count: bigint;
  succeeded_count: bigint;
  exhausted_count: bigint;
  canceled_count: bigint;
}

const db = queryBuilder<ResendTables>();

function resends(parameters: ReadParameters<Tenant>) {
  return db
    .selectFrom('webhooks.resend')
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .select(['merchant_id', 'environment', 'id', 'state', 'event_id', 'event_request_id', 'period_from'])
    .select(['period_to', 'subscription_id', 'only_failed', 'created_at', 'ended_at', 'expected_count'])
    .select(['made_count', 'succeeded_count', 'exhausted_count', 'canceled_count'])
    .select(sql<bigint>`cardinality(open_ids)::bigint`.as('open_count'));
}

interface ResendKey extends Tenant {
  readonly id: string;
}

/** One resend by its id. */
export const selectResend = prepareRead<ResendKey, ResendReadRow>((parameters) =>
  resends(parameters).where('id', '=', parameters('id')).$castTo<ResendReadRow>().compile(),
);

interface ResendPage extends Tenant, PageRange {
  readonly state: ResendStateName | undefined;
}

/** Resends are listed newest first: ids are in the order of their creation. */
export const resendOrder: ListOrder<ResendReadRow> = { columns: ['id'], direction: 'desc' };

/** A page of resends in their order. */
export const selectResends = prepareRead<ResendPage, ResendReadRow>((parameters) => {
  let query = resends(parameters);
  if (parameters.has('state')) query = query.where('state', '=', parameters('state'));
  return inOrder(query, resendOrder, parameters).$castTo<ResendReadRow>().compile();
});
