import { Type } from 'typebox';
import type { Event } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { moment } from '../shell/components.ts';
import { type Html, html } from '../shell/html.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { simulateTexts } from './simulate.texts.ts';

const MAX_EVENTS = 20;
const REQUEST_ID = /^[\w.-]{1,100}$/;

/** The query parameters of a page of the panel after a step. */
export const OUTCOME_QUERY = {
  notice: Type.Optional(Type.String({ maxLength: 100 })),
  request: Type.Optional(Type.String({ maxLength: 100 })),
};

/** The result of the previous step: the events that it published, with links to their deliveries. */
export async function outcome(view: View, requestId: string | undefined): Promise<Html> {
  if (requestId === undefined || !REQUEST_ID.test(requestId)) return html``;
  const t = textsFor(view, simulateTexts);
  const request = { requestId, pageSize: MAX_EVENTS };
  const { events: published } = await view.clients.events.listEvents(request);
  const deliveries = pathTo(view, `/deliveries?request=${requestId}`);
  const links = html`<p><a href="${deliveries}">${t.seeDeliveries}</a> · <a href="${pathTo(view, '/deliveries')}">${t.seeAllDeliveries}</a> ·
<a href="${pathTo(view, '/funds')}">${t.seeFunds}</a> · <a href="${pathTo(view, '/webhooks')}">${t.seeWebhooks}</a></p>`;
  return html`<section class="card outcome"><h2>${t.outcome}</h2>
${published.length === 0 ? html`<p>${t.noEvents}</p>` : html`<ul>${published.map((event) => eventItem(view, event))}</ul>`}
${links}</section>`;
}

function eventItem(view: View, { type, objectId, timestamp }: Event): Html {
  return html`<li><code>${type}</code> ${moment(view, timestamp)} <span class="soft"><code>${objectId}</code></span></li>`;
}
