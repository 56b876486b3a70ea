import { inOrder, type ListOrder, type PageSpec } from '../../platform/reads/list-order.ts';
import { prepareRead, type ReadParameters } from '../../platform/reads/prepared-read.ts';
import { queryBuilder } from '../../platform/reads/query-builder.ts';
import type { ReadTable } from '../../platform/reads/read-table.ts';
import type { Tenant } from '../../platform/tenant.ts';
import type { SubscriptionEntity } from './subscription.entity.ts';

/** A subscription as hot reads return it. */
export type SubscriptionReadRow = ReadTable<typeof SubscriptionEntity>;

const db = queryBuilder<{ 'webhooks.subscription': SubscriptionReadRow }>();

function subscriptions(parameters: ReadParameters<Tenant>) {
  return db
    .selectFrom('webhooks.subscription')
    .selectAll()
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'));
}

interface SubscriptionKey extends Tenant {
  readonly id: string;
}

/** One subscription by its id. */
export const selectSubscription = prepareRead<SubscriptionKey, SubscriptionReadRow>((parameters) =>
  subscriptions(parameters).where('id', '=', parameters('id')).compile(),
);

/** Subscriptions are listed newest first. */
export const subscriptionOrder: ListOrder<SubscriptionReadRow> = {
  columns: ['created_at', 'id'],
  direction: 'desc',
};

/** One page of subscriptions. */
export const selectSubscriptions = prepareRead<Tenant & PageSpec, SubscriptionReadRow>((parameters) =>
  inOrder(subscriptions(parameters), subscriptionOrder, parameters).compile(),
);
