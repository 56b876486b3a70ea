import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { queryBuilder } from '../platform/database.ts';
import { inOrder, type ListOrder, type PageRange } from '../platform/list-order.ts';
import { prepareRead, type ReadParameters } from '../platform/prepared-read.ts';
import type { EnvironmentName, Tenant } from '../platform/tenant.ts';
import type { AttemptFailureName, DeliveryStatusName } from './delivery.ts';

/** A delivery as hot reads answer it; created when its id says. */
export interface DeliveryReadRow {
  merchant_id: string;
  environment: EnvironmentName;
  id: string;
  subscription_id: string;
  event_id: string;
  event_type: string;
  status: DeliveryStatusName;
  attempt_count: number;
  next_attempt_at: Timestamp | null;
  ended_at: Timestamp | null;
  batch_id: string | null;
}

/** An attempt as hot reads answer it. */
export interface AttemptReadRow {
  number: number;
  started_at: Timestamp;
  ended_at: Timestamp | null;
  latency_ms: number | null;
  http_status: number | null;
  failure: AttemptFailureName | null;
  response_excerpt: string | null;
}

interface DeliveryTables {
  'webhooks.delivery': Omit<DeliveryReadRow, 'event_type'>;
  'webhooks.event': { merchant_id: string; environment: EnvironmentName; id: string; type: string };
  'webhooks.attempt': AttemptReadRow & {
    merchant_id: string;
    environment: EnvironmentName;
    delivery_id: string;
  };
}

const db = queryBuilder<DeliveryTables>();

function deliveries(parameters: ReadParameters<Tenant>) {
  return db
    .selectFrom('webhooks.delivery as delivery')
    .innerJoin('webhooks.event as event', (join) =>
      join
        .onRef('event.merchant_id', '=', 'delivery.merchant_id')
        .onRef('event.environment', '=', 'delivery.environment')
        .onRef('event.id', '=', 'delivery.event_id'),
    )
    .where('delivery.merchant_id', '=', parameters('merchantId'))
    .where('delivery.environment', '=', parameters('environment'))
    .select(['delivery.merchant_id', 'delivery.environment', 'delivery.id', 'delivery.subscription_id'])
    .select(['delivery.event_id', 'event.type as event_type', 'delivery.status', 'delivery.attempt_count'])
    .select(['delivery.next_attempt_at', 'delivery.ended_at', 'delivery.batch_id']);
}

interface DeliveryKey extends Tenant {
  readonly id: string;
}

/** One delivery by its id. */
export const selectDelivery = prepareRead<DeliveryKey, DeliveryReadRow>((parameters) =>
  deliveries(parameters).where('delivery.id', '=', parameters('id')).$castTo<DeliveryReadRow>().compile(),
);

interface DeliveryPage extends Tenant, PageRange {
  readonly subscriptionId: string | undefined;
  readonly eventId: string | undefined;
  readonly status: DeliveryStatusName | undefined;
}

/** Deliveries are listed newest first: ids are in the order of their creation. */
export const deliveryOrder: ListOrder<DeliveryReadRow> = { columns: ['id'], direction: 'desc' };

/** A page of deliveries in their order. */
export const selectDeliveries = prepareRead<DeliveryPage, DeliveryReadRow>((parameters) => {
  let query = deliveries(parameters);
  if (parameters.has('subscriptionId')) {
    query = query.where('delivery.subscription_id', '=', parameters('subscriptionId'));
  }
  if (parameters.has('eventId')) query = query.where('delivery.event_id', '=', parameters('eventId'));
  if (parameters.has('status')) query = query.where('delivery.status', '=', parameters('status'));
  return inOrder(query, deliveryOrder, parameters, 'delivery').$castTo<DeliveryReadRow>().compile();
});

/** The attempts of a delivery, first to last. */
export const selectAttempts = prepareRead<DeliveryKey, AttemptReadRow>((parameters) =>
  db
    .selectFrom('webhooks.attempt')
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .where('delivery_id', '=', parameters('id'))
    .select(['number', 'started_at', 'ended_at', 'latency_ms', 'http_status', 'failure'])
    .select(['response_excerpt'])
    .orderBy('number')
    .$castTo<AttemptReadRow>()
    .compile(),
);
