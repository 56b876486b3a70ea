import { inOrder, type ListOrder, type PageSpec } from '../platform/reads/list-order.ts';
import { prepareRead, type ReadParameters } from '../platform/reads/prepared-read.ts';
import { queryBuilder } from '../platform/reads/query-builder.ts';
import type { ReadTable } from '../platform/reads/read-table.ts';
import type { Tenant } from '../platform/tenant.ts';
import type { DisputeEntity } from './refund-case.entity.ts';

/** A dispute as hot reads return it. */
export type DisputeReadRow = ReadTable<typeof DisputeEntity>;

const db = queryBuilder<{ 'refunds.dispute': DisputeReadRow }>();

function disputes(parameters: ReadParameters<Tenant>) {
  return db
    .selectFrom('refunds.dispute')
    .selectAll()
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'));
}

/** One dispute by its id. */
export const selectDispute = prepareRead<Tenant & { readonly id: string }, DisputeReadRow>((parameters) =>
  disputes(parameters).where('id', '=', parameters('id')).compile(),
);

/** A page of a merchant's disputes; undefined filters are ignored. */
interface DisputePage extends Tenant, PageSpec {
  readonly paymentIntentId: string | undefined;
}

/** Disputes are listed newest first. */
export const disputeOrder: ListOrder<DisputeReadRow> = { columns: ['opened_at', 'id'], direction: 'desc' };

/** One page of disputes. */
export const selectDisputes = prepareRead<DisputePage, DisputeReadRow>((parameters) => {
  let query = disputes(parameters);
  if (parameters.has('paymentIntentId')) {
    query = query.where('payment_intent_id', '=', parameters('paymentIntentId'));
  }
  return inOrder(query, disputeOrder, parameters).compile();
});
