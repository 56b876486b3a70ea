import type { Timestamp } from '@bufbuild/protobuf/wkt';
import {
  AttemptFailure,
  SubscriptionErrorCause,
  type SubscriptionError as SubscriptionErrorMessage,
  type WebhookSubscription,
  WebhookSubscriptionState,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { readRowOf } from '../../platform/reads/read-table.ts';
import { environmentEnum } from '../../platform/tenant.ts';
import type { SubscriptionRow } from './subscription.entity.ts';
import type { SubscriptionReadRow } from './subscription.queries.ts';
import type { SubscriptionError } from './subscription.ts';
import { subscriptionEtag } from './subscription-etag.ts';

export function subscriptionMessage(row: SubscriptionReadRow): WebhookSubscription {
  return {
    $typeName: 'payments.webhooks.v1.WebhookSubscription',
    id: row.id,
    merchantId: row.merchant_id,
    environment: environmentEnum(row.environment),
    url: row.url,
    eventTypes: row.event_types,
    state: WebhookSubscriptionState[row.state],
    createdAt: row.created_at,
    error: row.error ? errorMessage(row.error, row.error_at ?? undefined) : undefined,
    disabledAt: row.disabled_at ?? undefined,
    ordered: row.ordered,
    pausedAt: row.paused_at ?? undefined,
    maxConcurrentAttempts: row.max_concurrent_attempts ?? undefined,
    maxAttemptsPerSecond: row.max_attempts_per_second ?? undefined,
    description: row.description,
    deletedAt: row.deleted_at ?? undefined,
    etag: subscriptionEtag({ url: row.url, description: row.description, eventTypes: row.event_types }),
  };
}

function errorMessage(error: SubscriptionError, since: Timestamp | undefined): SubscriptionErrorMessage {
  const message: SubscriptionErrorMessage = {
    $typeName: 'payments.webhooks.v1.SubscriptionError',
    cause: SubscriptionErrorCause[error.cause],
    since,
  };
  switch (error.cause) {
    case 'DELIVERY_EXHAUSTED':
      return {
        ...message,
        attempts: error.attempts,
        httpStatus: error.httpStatus,
        failure: error.failure && AttemptFailure[error.failure],
        deliveryId: error.deliveryId,
        eventId: error.eventId,
      };
    case 'DELIVERY_EXPIRED':
      return { ...message, retentionDays: error.retentionDays };
    case 'GONE':
      return {
        ...message,
        httpStatus: error.httpStatus,
        deliveryId: error.deliveryId,
        eventId: error.eventId,
      };
    default:
      return error satisfies never;
  }
}

/** The message of a subscription inside a transaction. */
export const storedSubscriptionMessage = (row: SubscriptionRow): WebhookSubscription =>
  subscriptionMessage(readRowOf(row));
