import { Type } from 'typebox';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import {
  type ListWebhookSubscriptionsResponse,
  type WebhookSubscription,
  WebhookSubscriptionService,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { countColumn, dataTable, moment, pageParameter, pager } from '../../shell/components.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import { liveRegion } from '../../shell/live.ts';
import type { Pages } from '../../shell/pages.ts';
import { canCall, type Page, pathTo, textsFor, type View } from '../../shell/view.ts';
import { webhookGuide } from '../guide-links.ts';
import { readSubscriptions } from './subscription-reads.ts';
import { stateBadges, troubleOf } from './subscription-state.ts';
import { subscriptionTexts } from './subscriptions.texts.ts';
import { withTroubleBanner } from './trouble-banner.ts';

const PAGE_SIZE = 25;
const QUERY = Type.Object({ page: pageParameter });

export function subscriptionListPage(pages: Pages): void {
  const options = { path: '/webhooks', role: Role.VIEWER, section: 'webhooks', query: QUERY } as const;
  pages.page(options, async (view, { query }) => {
    const bounds = { pageSize: PAGE_SIZE, pageToken: query.page ?? '', withHealth: true };
    const [list, all] = await Promise.all([
      view.clients.webhookSubscriptions.listWebhookSubscriptions(bounds),
      readSubscriptions(view, { withHealth: true }),
    ]);
    return withTroubleBanner(view, listPage(view, list), all);
  });
}

function listPage(view: View, { subscriptions, nextPageToken }: ListWebhookSubscriptionsResponse): Page {
  const t = textsFor(view, subscriptionTexts);
  const table = subscriptionTable(view, subscriptions);
  return {
    title: t.title,
    live: { subscriptions: table },
    body: html`<p class="soft">${t.intro}</p>
${webhookGuide(view, 'webhook-deliveries')}
<p class="row">
${canCall(view, WebhookSubscriptionService.method.createWebhookSubscription) ? html`<a class="button" href="${pathTo(view, '/webhooks/new')}">${t.create}</a>` : nothing}
<a class="button plain" href="${pathTo(view, '/deliveries')}">${t.allDeliveries}</a>
</p>
${liveRegion('subscriptions', table)}
${pager(view, nextPageToken)}`,
  };
}

function subscriptionTable(view: View, subscriptions: readonly WebhookSubscription[]): Html {
  const t = textsFor(view, subscriptionTexts);
  return dataTable<WebhookSubscription>(
    t.caption,
    [
      {
        label: t.url,
        isFreeText: true,
        cell: ({ id, url, description }) =>
          html`<div><a href="${pathTo(view, `/webhooks/${id}`)}"><code>${url}</code></a>${description ? html`<div class="soft">${description}</div>` : nothing}</div>`,
      },
      {
        label: t.state,
        cell: (subscription) =>
          html`<div>${stateBadges(view, subscription)}${troubleOf(view, subscription)}</div>`,
      },
      countColumn(view, t.eventTypes, ({ eventTypes }) => eventTypes.length),
      { label: t.created, cell: ({ createdAt }) => moment(view, createdAt) },
    ],
    subscriptions,
    t.none,
  );
}
