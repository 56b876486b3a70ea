import {
  DeliveryService,
  type PreviewResendResponse,
  type WebhookSubscription,
  WebhookSubscriptionState,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { breadcrumbs } from '../../shell/breadcrumbs.ts';
import { form, hiddenFields, notice } from '../../shell/components.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import type { Pages } from '../../shell/pages.ts';
import { type Page, pathTo, textsFor, type View } from '../../shell/view.ts';
import { deliveriesBreadcrumb, endpointBreadcrumb } from '../breadcrumbs.ts';
import { endpointName } from '../deliveries/delivery.components.ts';
import { readSubscription } from '../subscriptions/subscription-reads.ts';
import { faultsOf, formPage } from './resend.actions.ts';
import {
  lastDay,
  parseSelection,
  ResendFields,
  type ResendValues,
  SCOPES,
  type Scope,
  type Selection,
} from './resend-form.ts';
import { resendPreviewTexts } from './resend-preview.texts.ts';
import { selectionText } from './resend-selection.ts';

const PATH = '/webhooks/:subscriptionId/resends/preview';

/** What a resend would send: first a choice of events by their outcome so far, then a confirmation. */
export function resendPreviewPage(pages: Pages): void {
  const spec = { path: PATH, rpc: DeliveryService.method.resendDeliveries, section: 'webhooks' } as const;

  pages.page({ ...spec, query: ResendFields }, async (view, { params, query }) => {
    const subscription = await readSubscription(view, params.subscriptionId!);
    // The address was opened without its query.
    if (Object.keys(query).length === 0) return formPage(view, subscription, lastDay());
    const parsed = parseSelection(query);
    if ('faults' in parsed) return formPage(view, subscription, query, parsed.faults);
    if (subscription.state === WebhookSubscriptionState.DISABLED) return formPage(view, subscription, query);
    try {
      const { selection } = parsed;
      const request = { subscriptionId: subscription.id, selection };
      const counts = await view.clients.deliveries.previewResend(request);
      return previewPage(view, subscription, query, { selection, counts });
    } catch (error) {
      const faults = faultsOf(error);
      if (!faults) throw error;
      return formPage(view, subscription, query, faults);
    }
  });
}

function previewPage(
  view: View,
  subscription: WebhookSubscription,
  values: ResendValues,
  { selection, counts }: { selection: Selection; counts: PreviewResendResponse },
): Page {
  const t = textsFor(view, resendPreviewTexts);
  const { scope } = values;
  const isChosen = scope !== undefined && countOf(scope, counts) > 0n;
  const body = isChosen
    ? confirmation(view, subscription, values, { scope, counts })
    : choice(view, subscription, values, counts);
  return {
    title: isChosen ? t.confirmTitle : t.title,
    body: html`${breadcrumbs(view, 'webhooks', endpointBreadcrumb(subscription), deliveriesBreadcrumb(view, subscription))}
<p>${selectionText(view, { missed: undefined, [selection.case]: selection.value })}</p>
${counts.hasMore ? notice('busy', t.hasMore) : nothing}
${body}`,
  };
}

/** How many deliveries a scope creates for the counted events. */
function countOf(scope: Scope, counts: PreviewResendResponse): bigint {
  const { failedCount, neverSentCount, deliveredCount, openCount } = counts;
  switch (scope) {
    case 'failed':
      return failedCount;
    case 'undelivered':
      return failedCount + neverSentCount;
    case 'all':
      return failedCount + neverSentCount + deliveredCount + openCount;
    default:
      return scope satisfies never;
  }
}

/** The scopes that differ, narrowest first: one that adds nothing to a narrower one is left out. */
function scopesOf(counts: PreviewResendResponse): Scope[] {
  let before = 0n;
  return SCOPES.filter((scope) => {
    const count = countOf(scope, counts);
    const isWider = count > before;
    before = count;
    return isWider;
  });
}

/** Preselects failed events; for a single event, preselects it whatever its outcome. */
function preselected(values: ResendValues, scopes: readonly Scope[]): Scope | undefined {
  if (values.event_id?.trim()) return scopes.at(-1);
  if (values.missed) return scopes.includes('undelivered') ? 'undelivered' : scopes[0];
  return scopes.includes('failed') ? 'failed' : undefined;
}

function choice(
  view: View,
  { id }: WebhookSubscription,
  values: ResendValues,
  counts: PreviewResendResponse,
): Html {
  const t = textsFor(view, resendPreviewTexts);
  // Missed events are never sent twice.
  const scopes = scopesOf(counts).filter((scope) => !values.missed || scope !== 'all');
  const back = html`<p><a href="${backPath(view, id, values)}">${t.back}</a></p>`;
  if (scopes.length === 0) return html`${notice('off', t.nothing)}${back}`;
  const chosen = preselected(values, scopes);
  const option = (scope: Scope) =>
    html`<label class="option"><input type="radio" name="scope" value="${scope}" required${
      scope === chosen ? html` checked` : nothing
    }> ${t.options[scope](eventsText(view, countOf(scope, counts), counts))}</label>`;
  return html`${countsList(view, counts)}
<form method="get" action="${pathTo(view, `/webhooks/${id}/resends/preview`)}">${hiddenFields(selectionFields(values))}
<fieldset><legend>${t.which}</legend>${scopes.map(option)}</fieldset>
<button class="primary">${t.next}</button></form>
${back}`;
}

function countsList(view: View, counts: PreviewResendResponse): Html {
  const t = textsFor(view, resendPreviewTexts);
  const { failedCount, neverSentCount, olderCount, deliveredCount, openCount } = counts;
  const rows = [
    [t.counts.failed, failedCount, t.hints.failed],
    [
      t.counts.neverSent,
      neverSentCount,
      olderCount > 0n ? t.hints.older(view.format.number(olderCount)) : '',
    ],
    [t.counts.delivered, deliveredCount, ''],
    [t.counts.open, openCount, ''],
  ] as const;
  return html`<dl class="counts preview">${rows.map(
    ([name, count, hint]) =>
      html`<div><dt>${name}${hint && count > 0n ? html` <span class="soft">${hint}</span>` : nothing}</dt><dd>${countText(view, count, counts)}</dd></div>`,
  )}</dl>`;
}

function confirmation(
  view: View,
  { id, url }: WebhookSubscription,
  values: ResendValues,
  { scope, counts }: { scope: Scope; counts: PreviewResendResponse },
): Html {
  const t = textsFor(view, resendPreviewTexts);
  const events = eventsText(view, countOf(scope, counts), counts);
  const all = new URLSearchParams(selectionFields(values));
  return html`<p>${t.confirm(events, endpointName(url, id))} ${t.confirmHints[scope]}</p>
${form(view, {
  action: `/webhooks/${id}/resends`,
  submit: t.submit(events),
  fields: hiddenFields({ ...selectionFields(values), scope }),
})}
<p><a href="${pathTo(view, `/webhooks/${id}/resends/preview?${all}`)}">${t.change}</a></p>`;
}

const backPath = (view: View, id: string, values: ResendValues) =>
  pathTo(view, `/webhooks/${id}/resends?${new URLSearchParams(selectionFields(values))}`);

/** The selection without the scope, for links and hidden fields. */
function selectionFields({ scope: _, ...selection }: ResendValues): Record<string, string> {
  return Object.fromEntries(
    Object.entries(selection).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );
}

/** `3 events`, or `at least 3 events` where not all were counted. */
function eventsText(view: View, count: bigint, { hasMore }: PreviewResendResponse): string {
  const t = textsFor(view, resendPreviewTexts);
  const events = t.events(view.format.number(count), count === 1n);
  return hasMore ? t.atLeast(events) : events;
}

function countText(view: View, count: bigint, { hasMore }: PreviewResendResponse): string {
  const number = view.format.number(count);
  return hasMore && count > 0n ? textsFor(view, resendPreviewTexts).atLeast(number) : number;
}
