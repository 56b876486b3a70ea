import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type {
  Delivery,
  WebhookSubscription,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { PING_TYPE } from '../../../../services/contracts/webhooks/ping-type.ts';
import { breadcrumbs } from '../../shell/breadcrumbs.ts';
import { link, pager } from '../../shell/components.ts';
import { type Html, html } from '../../shell/html.ts';
import { liveRegion } from '../../shell/live.ts';
import type { Pages } from '../../shell/pages.ts';
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
  type ParsedFilters,
  parseFilters,
} from './deliveries-filters.ts';
import { deliveriesTable } from './deliveries-table.ts';
import { endpointName } from './delivery.components.ts';
import { readEvent } from './read-event.ts';

const PAGE_SIZE = 25;
/** The first searches some 200 deliveries where the filters share no index, each further one some 1,000. */
const MAX_SEARCHES = 10;
const EVENT_TYPES_CACHE_MS = 10 * 60_000;

/** The lists of deliveries: of a merchant, and of one subscription. */
export function deliveriesListPages(pages: Pages): void {
  const types = new EventTypeNames();
  const spec = { role: Role.VIEWER, section: 'webhooks', query: DeliveriesQuery } as const;

  pages.page({ ...spec, path: '/deliveries' }, async (view, { query }) => {
    const eventTypes = await types.read(view);
    const t = textsFor(view, deliveriesTexts);
    const list = await listOf(view, query, { eventTypes });
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
      types.read(view),
      readSubscription(view, subscriptionId),
    ]);
    const t = textsFor(view, deliveriesTexts);
    const list = await listOf(view, query, { eventTypes, subscription });
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
  query: DeliveriesQueryValues,
  { eventTypes, subscription }: ListOptions,
): Promise<Omit<Page, 'title'>> {
  const t = textsFor(view, deliveriesTexts);
  const filters = parseFilters(query);
  const filterHtml = filterForm(view, query, filters, eventTypes);
  if (Object.keys(filters.faults).length > 0) return { status: 422, body: filterHtml };
  const request = { ...filters.request, subscriptionId: subscription?.id };
  const list = await readPage(view, request, query.page ?? '');
  const subscriptionIds = list.deliveries.map(({ subscriptionId }) => subscriptionId);
  const endpoints = subscription ? undefined : await readEndpoints(view, subscriptionIds);
  const table = deliveriesTable(view, list.deliveries, {
    caption: t.deliveries,
    empty: list.deliveries.length > 0 ? '' : await emptyText(view, query, filters, list, subscription),
    endpoints,
    subscription,
  });
  return {
    body: html`${filterHtml}${liveRegion('deliveries', table)}${pager(view, list.nextPageToken)}`,
    live: { deliveries: table },
  };
}

/** Deliveries, and the token of the next ones or ''. */
interface DeliveriesPage {
  readonly deliveries: readonly Delivery[];
  readonly nextPageToken: string;
}

/** A page; a search that has found too few deliveries continues, for a while. */
async function readPage(
  { clients }: View,
  request: ParsedFilters['request'] & Partial<Pick<Delivery, 'subscriptionId'>>,
  firstToken: string,
): Promise<DeliveriesPage> {
  const deliveries: Delivery[] = [];
  let nextPageToken = firstToken;
  for (let searches = 0; searches < MAX_SEARCHES && deliveries.length < PAGE_SIZE; searches += 1) {
    const pageSize = PAGE_SIZE - deliveries.length;
    const page = { withLastAttempt: true, pageSize, pageToken: nextPageToken };
    const found = await clients.deliveries.listDeliveries({ ...request, ...page });
    deliveries.push(...found.deliveries);
    nextPageToken = found.nextPageToken;
    if (nextPageToken === '') break;
  }
  return { deliveries, nextPageToken };
}

/** Why there are no deliveries. Those of one event are missing when no endpoint was to receive it. */
async function emptyText(
  view: View,
  query: DeliveriesQueryValues,
  { any, request: { eventId } }: ParsedFilters,
  { nextPageToken }: DeliveriesPage,
  subscription: WebhookSubscription | undefined,
): Promise<Html | string> {
  const t = textsFor(view, deliveriesTexts);
  if (nextPageToken) return t.noMatchesYet;
  if (query.page) return t.noMoreMatches;
  if (!any) return t.none;
  const given = Object.entries(query).filter(([, value]) => value?.trim());
  const isOfEvent = eventId !== undefined && given.length === 1 && !subscription;
  const event = isOfEvent ? await readEvent(view, eventId) : undefined;
  return event ? html`${t.notSent(event.type)} ${link(view, '/webhooks', t.toEndpoints)}` : t.noMatches;
}

/** The names of all event types that can be delivered, cached because live pages are rendered every second. */
class EventTypeNames {
  #cached: { readonly names: readonly string[]; readonly expiresAt: number } | undefined;

  async read({ clients }: View): Promise<readonly string[]> {
    if (this.#cached && performance.now() < this.#cached.expiresAt) return this.#cached.names;
    const { eventTypes } = await clients.events.listEventTypes({});
    const names = [...eventTypes.map(({ name }) => name), PING_TYPE].sort();
    this.#cached = { names, expiresAt: performance.now() + EVENT_TYPES_CACHE_MS };
    return names;
  }
}
