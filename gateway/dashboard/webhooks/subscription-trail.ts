import type { WebhookSubscription } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { type Html, html, nothing } from '../html.ts';
import { pathTo, textsFor, type View } from '../view.ts';
import { deliveriesTexts } from './deliveries.texts.ts';
import { endpointName } from './delivery-words.ts';

/** The way up from a page of a subscription: to the list, and to the subscription from what is about it. */
export function subscriptionTrail(view: View, about?: Pick<WebhookSubscription, 'id' | 'url'>): Html {
  const t = textsFor(view, deliveriesTexts);
  const endpoint = about
    ? html` › <a href="${pathTo(view, `/webhooks/${about.id}`)}">${endpointName(about.url, about.id)}</a>`
    : nothing;
  return html`<nav class="trail" aria-label="${t.trail}"><a href="${pathTo(view, '/webhooks')}">${t.webhooks}</a>${endpoint}</nav>`;
}
