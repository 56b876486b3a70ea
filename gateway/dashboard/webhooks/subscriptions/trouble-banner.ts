import { timestampMs } from '@bufbuild/protobuf/wkt';
import {
  type WebhookSubscription,
  WebhookSubscriptionState,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { DAY_MS } from '../../../../services/platform/durations.ts';
import { notice } from '../../shell/components.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import { liveRegion } from '../../shell/live.ts';
import { type Page, pathTo, textsFor, type View } from '../../shell/view.ts';
import { troubleTextsOf } from './subscription-state.ts';
import { troubleTexts } from './trouble-banner.texts.ts';

const MAX_LISTED = 5;
/** An endpoint disabled by a 410 is listed for a week: after that, it was probably intended. */
const GONE_SHOWN_MS = 7 * DAY_MS;

/**
 * Whether it is failing, in ERROR or was recently disabled by a 410. One that a person disabled may have an older error.
 */
function isInTrouble({ state, error, disabledAt, health }: WebhookSubscription): boolean {
  if (health?.failingSince) return true;
  const since = error?.since;
  if (!since) return false;
  if (state === WebhookSubscriptionState.ERROR) return true;
  if (state !== WebhookSubscriptionState.DISABLED || !disabledAt) return false;
  const isGone = since.seconds === disabledAt.seconds && since.nanos === disabledAt.nanos;
  return isGone && Date.now() - timestampMs(disabledAt) < GONE_SHOWN_MS;
}

/** Lists failing subscriptions, with the cause and since when; empty when there are none. */
function troubleBanner(view: View, subscriptions: readonly WebhookSubscription[]): Html {
  const t = textsFor(view, troubleTexts);
  const troubled = subscriptions.filter(isInTrouble);
  if (troubled.length === 0) return nothing;
  const item = (subscription: WebhookSubscription) => {
    const texts = troubleTextsOf(view, subscription);
    return html`<li><a href="${pathTo(view, `/webhooks/${subscription.id}`)}"><code>${subscription.url}</code></a>${texts.map((text) => html`<p class="soft">${text}</p>`)}</li>`;
  };
  const unlisted = troubled.length - MAX_LISTED;
  const more =
    unlisted > 0 ? html`<p><a href="${pathTo(view, '/webhooks')}">${t.more(unlisted)}</a></p>` : nothing;
  return notice(
    'bad',
    html`<p><strong>${t.title(troubled.length)}</strong></p>
<ul>${troubled.slice(0, MAX_LISTED).map(item)}</ul>${more}`,
  );
}

/** Adds the banner to the top of a page, as a live region. */
export function withTroubleBanner(
  view: View,
  page: Page,
  subscriptions: readonly WebhookSubscription[],
): Page {
  const trouble = troubleBanner(view, subscriptions);
  return {
    ...page,
    live: { ...page.live, trouble },
    body: html`${liveRegion('trouble', trouble)}${page.body}`,
  };
}
