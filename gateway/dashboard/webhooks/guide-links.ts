import { docsLink } from '../shell/components.ts';
import type { DashboardConfig } from '../shell/dependencies.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import { guideLinksTexts } from './guide-links.texts.ts';

/** A paragraph that links this heading of the guides on webhooks. */
export function webhookGuide(view: View, heading: keyof (typeof guideLinksTexts)['en']['guides']): Html {
  return docsLink(view, heading, textsFor(view, guideLinksTexts).guides[heading]);
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
