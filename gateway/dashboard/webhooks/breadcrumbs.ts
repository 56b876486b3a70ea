import type { WebhookSubscription } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Breadcrumb } from '../shell/breadcrumbs.ts';
import { textsFor, type View } from '../shell/view.ts';
import { deliveriesTexts } from './deliveries/deliveries.texts.ts';
import { endpointName } from './deliveries/delivery.components.ts';

type Endpoint = Pick<WebhookSubscription, 'id' | 'url'>;

/** The page of a subscription. */
export const endpointBreadcrumb = ({ id, url }: Endpoint): Breadcrumb => [
  `/webhooks/${id}`,
  endpointName(url, id),
];

/** The list of deliveries: of one subscription, or of all the merchant's. */
export const deliveriesBreadcrumb = (view: View, endpoint?: Endpoint): Breadcrumb => [
  endpoint ? `/webhooks/${endpoint.id}/deliveries` : '/deliveries',
  textsFor(view, deliveriesTexts).deliveries,
];
