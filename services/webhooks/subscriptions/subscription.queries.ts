import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { InferKyselyTable } from '@mikro-orm/postgresql';
import { queryBuilder } from '../../platform/database/database.ts';
import { inOrder, type ListOrder, type PageRange } from '../../platform/reads/list-order.ts';
import { prepareRead, type ReadParameters } from '../../platform/reads/prepared-read.ts';
import type { EnvironmentName, Tenant } from '../../platform/tenant.ts';
import type { SubscriptionEntity } from './subscription.entity.ts';
import type { SubscriptionError, SubscriptionState } from './subscription.ts';

interface SubscriptionTables {
  'webhooks.subscription': InferKyselyTable<typeof SubscriptionEntity>;
}

/** A subscription as hot reads answer it. */
export interface SubscriptionReadRow {
  merchant_id: string;
  environment: EnvironmentName;
  id: string;
  url: string;
  event_types: string[];
  state: SubscriptionState;
  created_at: Timestamp;
  error: SubscriptionError | null;
  error_at: Timestamp | null;
  disabled_at: Timestamp | null;
  ordered: boolean;
  paused_at: Timestamp | null;
  max_concurrent_attempts: number | null;
  max_attempts_per_second: number | null;
}

const db = queryBuilder<SubscriptionTables>();

function subscriptions(parameters: ReadParameters<Tenant>) {
  return db
    .selectFrom('webhooks.subscription')
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .select(['merchant_id', 'environment', 'id', 'url', 'event_types', 'state'])
    .select(['created_at', 'error', 'error_at', 'disabled_at', 'ordered'])
    .select(['paused_at', 'max_concurrent_attempts', 'max_attempts_per_second']);
}

interface SubscriptionKey extends Tenant {
  readonly id: string;
}

/** One subscription by its id. */
export const selectSubscription = prepareRead<SubscriptionKey, SubscriptionReadRow>((parameters) =>
  subscriptions(parameters).where('id', '=', parameters('id')).$castTo<SubscriptionReadRow>().compile(),
);

/** Subscriptions are listed newest first. */
export const subscriptionOrder: ListOrder<SubscriptionReadRow> = {
  columns: ['created_at', 'id'],
  direction: 'desc',
};

/** A page of subscriptions in their order. */
export const selectSubscriptions = prepareRead<Tenant & PageRange, SubscriptionReadRow>((parameters) =>
  inOrder(subscriptions(parameters), subscriptionOrder, parameters).$castTo<SubscriptionReadRow>().compile(),
);
