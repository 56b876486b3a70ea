import type { WebhookSubscription } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Above } from '../shell/breadcrumbs.ts';
import { textsFor, type View } from '../shell/view.ts';
import { deliveriesTexts } from './deliveries/deliveries.texts.ts';
import { endpointName } from './deliveries/delivery-words.ts';

type Endpoint = Pick<WebhookSubscription, 'id' | 'url'>;

/** The page of a subscription, for a trail. */
export const endpointAbove = ({ id, url }: Endpoint): Above => [`/webhooks/${id}`, endpointName(url, id)];

/** The list of deliveries, of all the merchant's subscriptions or of one, for a trail. */
export const deliveriesAbove = (view: View, of?: Endpoint): Above => [
  of ? `/webhooks/${of.id}/deliveries` : '/deliveries',
  textsFor(view, deliveriesTexts).deliveries,
];
