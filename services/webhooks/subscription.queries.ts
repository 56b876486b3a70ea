import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { InferKyselyTable } from '@mikro-orm/postgresql';
import { queryBuilder } from '../platform/database.ts';
import { prepareRead, type ReadParameters } from '../platform/prepared-read.ts';
import type { EnvironmentName, Tenant } from '../platform/tenant.ts';
import type { SubscriptionEntity } from './subscription.entity.ts';
import type { SubscriptionState } from './subscription.ts';

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
  error_reason: string | null;
  error_at: Timestamp | null;
  disabled_at: Timestamp | null;
}

const db = queryBuilder<SubscriptionTables>();

function subscriptions(parameters: ReadParameters<Tenant>) {
  return db
    .selectFrom('webhooks.subscription')
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .select(['merchant_id', 'environment', 'id', 'url', 'event_types', 'state'])
    .select(['created_at', 'error_reason', 'error_at', 'disabled_at']);
}

interface SubscriptionKey extends Tenant {
  readonly id: string;
}

/** One subscription by its id. */
export const selectSubscription = prepareRead<SubscriptionKey, SubscriptionReadRow>((parameters) =>
  subscriptions(parameters).where('id', '=', parameters('id')).$castTo<SubscriptionReadRow>().compile(),
);

interface SubscriptionPage extends Tenant {
  /** The position that the page starts after: both or neither. */
  readonly afterCreatedAt: Date | undefined;
  readonly afterId: string | undefined;
  readonly limit: number;
}

/** Subscriptions newest first by (created_at, id). */
export const selectSubscriptions = prepareRead<SubscriptionPage, SubscriptionReadRow>((parameters) => {
  let query = subscriptions(parameters);
  if (parameters.has('afterId')) {
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('created_at', 'id'), '<', tuple(parameters('afterCreatedAt'), parameters('afterId'))),
    );
  }
  return query
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(parameters('limit'))
    .$castTo<SubscriptionReadRow>()
    .compile();
});
