import { createHash } from 'node:crypto';
import { failedPrecondition } from '../../platform/errors.ts';
import type { SubscriptionRow } from './subscription.entity.ts';

type Editable = Pick<SubscriptionRow, 'url' | 'description' | 'eventTypes'>;

const LENGTH = 22;

/** A digest of the fields that UpdateWebhookSubscription changes. */
export function subscriptionEtag({ url, description, eventTypes }: Editable): string {
  const contents = JSON.stringify([url, description, eventTypes.toSorted()]);
  return createHash('sha256').update(contents).digest('base64url').slice(0, LENGTH);
}

/**
 * FAILED_PRECONDITION (WEBHOOK_SUBSCRIPTION_CHANGED) when the caller has seen other contents. Accepts a request
 * without an etag.
 */
export function requireEtag(subscription: Editable, seen: string | undefined): void {
  const etag = subscriptionEtag(subscription);
  if (seen === undefined || seen === etag) return;
  throw failedPrecondition('WEBHOOK_SUBSCRIPTION_CHANGED', 'the webhook subscription has changed since', {
    etag,
  });
}
