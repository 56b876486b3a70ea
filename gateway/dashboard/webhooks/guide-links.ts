import { docsLink } from '../shell/components.ts';
import type { DashboardConfig } from '../shell/dependencies.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import { guideLinksTexts } from './guide-links.texts.ts';

/** The headings of the guides that the webhook pages link to. */
const HEADINGS = {
  deliveries: 'webhook-deliveries',
  verifying: 'verifying',
  addresses: 'addresses',
  states: 'states-of-a-subscription',
  retries: 'retries',
  duplicates: 'duplicates-and-order',
} as const;

/** A paragraph that links the guide on a subject of webhooks. */
export function webhookGuide(view: View, subject: keyof typeof HEADINGS): Html {
  return docsLink(view, HEADINGS[subject], textsFor(view, guideLinksTexts).guides[subject]);
}

/** Where deliveries come from, for allow-lists, with its guide; nothing if the operator has not configured it. */
export function egressAddresses(
  view: View,
  { WEBHOOK_EGRESS_ADDRESSES: addresses }: Pick<DashboardConfig, 'WEBHOOK_EGRESS_ADDRESSES'>,
): Html {
  if (addresses.length === 0) return nothing;
  const t = textsFor(view, guideLinksTexts);
  const listed = addresses.map((block) => html`<li><code>${block}</code></li>`);
  return html`<p class="hint" id="egress">${t.egress}</p>
<ul class="plain" aria-labelledby="egress">${listed}</ul>
${webhookGuide(view, 'addresses')}`;
}
