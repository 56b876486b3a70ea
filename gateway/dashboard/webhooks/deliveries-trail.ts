import { type Html, html, nothing } from '../html.ts';
import { pathTo, textsFor, type View } from '../view.ts';
import { deliveriesTexts } from './deliveries.texts.ts';
import { endpointName } from './delivery-words.ts';

/** Where a page lies, and the way up: the webhooks, and the endpoint that it is of. */
export function trail(view: View, subscription?: { readonly id: string; readonly url: string }): Html {
  const t = textsFor(view, deliveriesTexts);
  const endpoint = (of: NonNullable<typeof subscription>) =>
    html` › <a href="${pathTo(view, `/webhooks/${of.id}`)}">${endpointName(of.url, of.id)}</a>`;
  return html`<nav class="trail" aria-label="${t.trail}"><a href="${pathTo(view, '/webhooks')}">${t.webhooks}</a>${
    subscription ? endpoint(subscription) : nothing
  } › <a href="${pathTo(view, subscription ? `/webhooks/${subscription.id}/deliveries` : '/deliveries')}">${t.deliveries}</a></nav>`;
}
