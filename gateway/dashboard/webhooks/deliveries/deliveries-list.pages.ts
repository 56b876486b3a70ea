import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { WebhookSubscription } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { DashboardClients } from '../../dashboard-clients.ts';
import { breadcrumbs } from '../../shell/breadcrumbs.ts';
import { pager } from '../../shell/components.ts';
import type { FeatureDependencies } from '../../shell/feature.ts';
import { html } from '../../shell/html.ts';
import { liveRegion } from '../../shell/live.ts';
import { type Page, pathTo, textsFor, type View } from '../../shell/view.ts';
import { deliveriesBreadcrumb, endpointBreadcrumb } from '../breadcrumbs.ts';
import { resendSection } from '../resends/resend-form.ts';
import { resendsTexts } from '../resends/resends.texts.ts';
import { readEndpoints, readSubscription } from '../subscriptions/subscription-reads.ts';
import { deliveriesTexts } from './deliveries.texts.ts';
import {
  DeliveriesQuery,
  type DeliveriesQueryValues,
  filterForm,
  parseFilters,
} from './deliveries-filters.ts';
import { deliveriesTable } from './deliveries-table.ts';
import { endpointName } from './delivery.components.ts';
import { EventTypeNames } from './delivery-event-types.ts';

const PAGE_SIZE = 25;

/** The lists of deliveries: of a merchant, and of one subscription. */
export function deliveriesListPages({ pages, clients }: FeatureDependencies): void {
  const types = new EventTypeNames(clients);
  const spec = { role: Role.VIEWER, section: 'webhooks', query: DeliveriesQuery } as const;

  pages.page({ ...spec, path: '/deliveries' }, async (view, { query }) => {
    const eventTypes = await types.all(view.call);
    const t = textsFor(view, deliveriesTexts);
    const list = await listOf(view, clients, query, { eventTypes });
    return {
      ...list,
      title: t.deliveries,
      body: html`${breadcrumbs(view, 'webhooks', deliveriesBreadcrumb(view))}<p class="soft">${t.hint}
<a href="${pathTo(view, '/resends')}">${textsFor(view, resendsTexts).title}</a></p>
${list.body}`,
    };
  });

  pages.page({ ...spec, path: '/webhooks/:subscriptionId/deliveries' }, async (view, { params, query }) => {
    const subscriptionId = params.subscriptionId!;
    const [eventTypes, subscription] = await Promise.all([
      types.all(view.call),
      readSubscription(clients, view, subscriptionId),
    ]);
    const t = textsFor(view, deliveriesTexts);
    const list = await listOf(view, clients, query, { eventTypes, subscription });
    return {
      ...list,
      title: `${t.deliveriesTo} ${endpointName(subscription.url, subscriptionId)}`,
      body: html`${breadcrumbs(view, 'webhooks', endpointBreadcrumb(subscription), deliveriesBreadcrumb(view, subscription))}<p class="soft">${t.hint}
<a href="${pathTo(view, '/deliveries')}">${t.ofAll}</a></p>
${resendSection(view, subscription)}
${list.body}`,
    };
  });
}

interface ListOptions {
  readonly eventTypes: readonly string[];
  /** The only subscription of the list. */
  readonly subscription?: WebhookSubscription;
}

/** The filter form and the matching deliveries; without a list when a filter is invalid. */
async function listOf(
  view: View,
  clients: DashboardClients,
  query: DeliveriesQueryValues,
  { eventTypes, subscription }: ListOptions,
): Promise<Omit<Page, 'title'>> {
  const t = textsFor(view, deliveriesTexts);
  const filters = parseFilters(query);
  const filterHtml = filterForm(view, query, filters, eventTypes);
  if (Object.keys(filters.faults).length > 0) return { status: 422, body: filterHtml };
  const list = await clients.deliveries.listDeliveries(
    {
      ...view.tenant,
      ...filters.request,
      subscriptionId: subscription?.id,
      withLastAttempt: true,
      pageSize: PAGE_SIZE,
      pageToken: query.page ?? '',
    },
    view.call,
  );
  const subscriptionIds = list.deliveries.map(({ subscriptionId }) => subscriptionId);
  const endpoints = subscription ? undefined : await readEndpoints(clients, view, subscriptionIds);
  const table = deliveriesTable(view, list.deliveries, {
    caption: t.deliveries,
    empty: filters.any ? t.noMatches : t.none,
    endpoints,
    subscription,
  });
  return {
    body: html`${filterHtml}${liveRegion('deliveries', table)}${pager(view, list.nextPageToken)}`,
    live: { deliveries: table },
  };
}
