import { sql } from 'kysely';
import { inOrder, type ListOrder, type PageRange } from '../../platform/reads/list-order.ts';
import { prepareRead, type ReadParameters } from '../../platform/reads/prepared-read.ts';
import { queryBuilder } from '../../platform/reads/query-builder.ts';
import type { ReadTable } from '../../platform/reads/read-table.ts';
import type { RecordKey, Tenant } from '../../platform/tenant.ts';
import type { ResendEntity, ResendStateName } from './resend.entity.ts';

type ResendColumns = ReadTable<typeof ResendEntity>;

const COLUMNS = [
  'merchant_id',
  'environment',
  'id',
  'state',
  'event_id',
  'event_request_id',
  'period_from',
  'period_to',
  'missed_from',
  'missed_before',
  'subscription_id',
  'only_failed',
  'skip_never_sent',
  'created_at',
  'ended_at',
  'expected_count',
  'made_count',
  'succeeded_count',
  'exhausted_count',
  'canceled_count',
] as const;

/** A resend as hot reads return it; its counts are as of the last time its workflow continued it. */
export type ResendReadRow = Pick<ResendColumns, (typeof COLUMNS)[number]> & { readonly open_count: bigint };

const db = queryBuilder<{ 'webhooks.resend': ResendColumns }>();

function resends(parameters: ReadParameters<Tenant>) {
  return db
    .selectFrom('webhooks.resend')
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .select(COLUMNS)
    .select(sql<bigint>`cardinality(open_ids)::bigint`.as('open_count'));
}

export const selectResend = prepareRead<RecordKey, ResendReadRow>((parameters) =>
  resends(parameters).where('id', '=', parameters('id')).compile(),
);

interface ResendPage extends Tenant, PageRange {
  readonly state: ResendStateName | undefined;
}

/** Resends are listed newest first; their ids are in creation order. */
export const resendOrder: ListOrder<ResendReadRow> = { columns: ['id'], direction: 'desc' };

export const selectResends = prepareRead<ResendPage, ResendReadRow>((parameters) => {
  let query = resends(parameters);
  if (parameters.has('state')) query = query.where('state', '=', parameters('state'));
  return inOrder(query, resendOrder, parameters).compile();
});
