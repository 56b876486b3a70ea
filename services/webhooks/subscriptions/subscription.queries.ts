import { inOrder, type ListOrder, type PageRange } from '../../platform/reads/list-order.ts';
import { prepareRead, type ReadParameters } from '../../platform/reads/prepared-read.ts';
import { queryBuilder } from '../../platform/reads/query-builder.ts';
import { columnsOf, type ReadTable } from '../../platform/reads/read-table.ts';
import type { RecordKey, Tenant } from '../../platform/tenant.ts';
import { SubscriptionEntity } from './subscription.entity.ts';

/** A subscription as hot reads return it. */
export type SubscriptionReadRow = ReadTable<typeof SubscriptionEntity>;

const db = queryBuilder<{ 'webhooks.subscription': SubscriptionReadRow }>();

/** The subscriptions that a merchant manages, without listeners. */
function subscriptions(parameters: ReadParameters<Tenant>) {
  return db
    .selectFrom('webhooks.subscription')
    .select(columnsOf(SubscriptionEntity))
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .where('listening_until', 'is', null);
}

/** One subscription by its id, even if it was deleted. */
export const selectSubscription = prepareRead<RecordKey, SubscriptionReadRow>((parameters) =>
  subscriptions(parameters).where('id', '=', parameters('id')).compile(),
);

/** Subscriptions are listed newest first. */
export const subscriptionOrder: ListOrder<SubscriptionReadRow> = {
  columns: ['created_at', 'id'],
  direction: 'desc',
};

/** A page of a merchant's subscriptions; undefined filters are ignored. */
interface SubscriptionPage extends Tenant, PageRange {
  readonly state: SubscriptionReadRow['state'] | undefined;
}

/** One page of subscriptions, without deleted ones. */
export const selectSubscriptions = prepareRead<SubscriptionPage, SubscriptionReadRow>((parameters) => {
  let query = subscriptions(parameters).where('deleted_at', 'is', null);
  if (parameters.has('state')) query = query.where('state', '=', parameters('state'));
  return inOrder(query, subscriptionOrder, parameters).compile();
});
