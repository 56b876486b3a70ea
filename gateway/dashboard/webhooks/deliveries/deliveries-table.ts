import type {
  Delivery,
  WebhookSubscription,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { countColumn, dataTable, link, moment, NONE } from '../../shell/components.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import { pathTo, textsFor, type View } from '../../shell/view.ts';
import type { Endpoints } from '../subscriptions/subscription-reads.ts';
import { deliveriesTexts } from './deliveries.texts.ts';
import {
  attemptResultText,
  dueText,
  endpointName,
  isScheduled,
  latencyText,
  shortId,
  statusBadge,
} from './delivery.components.ts';

const RECENT = 10;

interface TableOptions {
  readonly caption: string;
  readonly empty: Html | string;
  /** The endpoints to show in a list of several subscriptions; any other delivery went to a listener. */
  readonly endpoints?: Endpoints | undefined;
  /** The only subscription of the list. */
  readonly subscription?: WebhookSubscription | undefined;
}

export function deliveriesTable(
  view: View,
  deliveries: readonly Delivery[],
  { caption, empty, endpoints, subscription }: TableOptions,
): Html {
  const t = textsFor(view, deliveriesTexts);
  const table = dataTable<Delivery>(
    caption,
    [
      { label: t.event, cell: (delivery) => eventCell(view, delivery, endpoints) },
      { label: t.object, cell: ({ objectId }) => html`<code>${shortId(objectId)}</code>` },
      {
        label: t.status,
        cell: (delivery) =>
          statusBadge(view, delivery, subscription ?? endpoints?.get(delivery.subscriptionId)),
      },
      countColumn(view, t.attempts, ({ attemptCount }) => attemptCount),
      { label: t.answer, cell: (delivery) => lastAnswer(view, delivery) },
      {
        label: t.next,
        cell: ({ nextAttemptAt, status }) =>
          isScheduled(status) && nextAttemptAt ? dueText(view, nextAttemptAt) : NONE,
      },
      { label: t.created, cell: ({ createdAt }) => moment(view, createdAt) },
    ],
    deliveries,
    empty,
  );
  return html`<div class="wide">${table}</div>`;
}

/** The ten newest deliveries of a subscription, with a link to all of them. */
export async function recentDeliveries(view: View, subscription: WebhookSubscription): Promise<Html> {
  const t = textsFor(view, deliveriesTexts);
  const { deliveries } = await view.clients.deliveries.listDeliveries({
    subscriptionId: subscription.id,
    pageSize: RECENT,
    withLastAttempt: true,
  });
  return html`${deliveriesTable(view, deliveries, { caption: t.recent, empty: t.none, subscription })}
<p><a href="${pathTo(view, `/webhooks/${subscription.id}/deliveries`)}">${t.seeAll}</a></p>`;
}

/** The event type, and the endpoint when the list has several. */
function eventCell(
  view: View,
  { id, eventType, subscriptionId }: Delivery,
  endpoints: Endpoints | undefined,
): Html {
  const type = link(view, `/deliveries/${id}`, html`<code>${eventType}</code>`);
  if (!endpoints) return type;
  const endpoint = endpoints.get(subscriptionId);
  if (!endpoint) {
    return html`<div>${type} <span class="soft">${textsFor(view, deliveriesTexts).listener}</span></div>`;
  }
  const name = endpointName(endpoint.url, subscriptionId);
  return html`<div>${type} <a class="soft" href="${pathTo(view, `/webhooks/${subscriptionId}/deliveries`)}">${name}</a></div>`;
}

function lastAnswer(view: View, { lastAttempt, attemptCount }: Delivery): Html {
  if (attemptCount === 0) return html`${NONE}`;
  const latency = latencyText(view, lastAttempt);
  return html`<span>${attemptResultText(view, lastAttempt)}${latency ? html` <span class="soft whole">${latency}</span>` : nothing}</span>`;
}
