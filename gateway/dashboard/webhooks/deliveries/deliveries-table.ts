import type { Delivery } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { DashboardClients } from '../../dashboard-clients.ts';
import { dataTable, moment, NONE } from '../../shell/components.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import { pathTo, textsFor, type View } from '../../shell/view.ts';
import { deliveriesTexts } from './deliveries.texts.ts';
import { answerWords, dueWords, endpointName, latencyWords, shortId, statusBadge } from './delivery-words.ts';

const RECENT = 10;

interface TableOptions {
  readonly caption: string;
  readonly empty: string;
  /** Endpoint URLs by subscription id; shown when the list is not of a single subscription. */
  readonly endpoints?: ReadonlyMap<string, string> | undefined;
}

/** A table of deliveries with their last attempts. */
export function deliveriesTable(
  view: View,
  deliveries: readonly Delivery[],
  { caption, empty, endpoints }: TableOptions,
): Html {
  const t = textsFor(view, deliveriesTexts);
  const table = dataTable<Delivery>(
    caption,
    [
      { label: t.event, cell: (delivery) => eventCell(view, delivery, endpoints) },
      { label: t.object, cell: ({ objectId }) => html`<code>${shortId(objectId)}</code>` },
      { label: t.status, cell: (delivery) => statusBadge(view, delivery) },
      { label: t.attempts, cell: ({ attemptCount }) => view.format.number(attemptCount), isNumber: true },
      { label: t.answer, cell: (delivery) => lastAnswer(view, delivery) },
      {
        label: t.next,
        cell: ({ nextAttemptAt, endedAt }) =>
          endedAt || !nextAttemptAt ? NONE : dueWords(view, nextAttemptAt),
      },
      { label: t.created, cell: ({ createdAt }) => moment(view, createdAt) },
    ],
    deliveries,
    empty,
  );
  return html`<div class="wide">${table}</div>`;
}

/** The ten newest deliveries of a subscription, with a link to all of them. */
export async function recentDeliveries(
  view: View,
  clients: Pick<DashboardClients, 'deliveries'>,
  { id: subscriptionId }: { readonly id: string },
): Promise<Html> {
  const t = textsFor(view, deliveriesTexts);
  const { deliveries } = await clients.deliveries.listDeliveries(
    { ...view.tenant, subscriptionId, pageSize: RECENT, withLastAttempt: true },
    view.call,
  );
  return html`${deliveriesTable(view, deliveries, { caption: t.recent, empty: t.none })}
<p><a href="${pathTo(view, `/webhooks/${subscriptionId}/deliveries`)}">${t.seeAll}</a></p>`;
}

/** The event type, and the endpoint when the list has several. */
function eventCell(
  view: View,
  { id, eventType, subscriptionId }: Delivery,
  endpoints: ReadonlyMap<string, string> | undefined,
): Html {
  const type = html`<a href="${pathTo(view, `/deliveries/${id}`)}"><code>${eventType}</code></a>`;
  if (!endpoints) return type;
  const name = endpointName(endpoints.get(subscriptionId), subscriptionId);
  return html`<div>${type} <a class="soft" href="${pathTo(view, `/webhooks/${subscriptionId}/deliveries`)}">${name}</a></div>`;
}

function lastAnswer(view: View, { lastAttempt, attemptCount }: Delivery): Html {
  if (attemptCount === 0) return html`${NONE}`;
  const latency = latencyWords(view, lastAttempt);
  return html`<span>${answerWords(view, lastAttempt)}${latency ? html` <span class="soft">${latency}</span>` : nothing}</span>`;
}
