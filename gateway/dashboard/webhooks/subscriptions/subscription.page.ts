import { Type } from 'typebox';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import {
  DeliveryService,
  type SigningSecretStatus,
  type WebhookSubscription,
  WebhookSubscriptionService,
  WebhookSubscriptionState,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { PING_TYPE } from '../../../../services/contracts/webhooks/ping-type.ts';
import { breadcrumbs } from '../../shell/breadcrumbs.ts';
import { confirmForm, details, form, moment } from '../../shell/components.ts';
import type { DashboardConfig } from '../../shell/dependencies.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import { liveRegion } from '../../shell/live.ts';
import type { Pages } from '../../shell/pages.ts';
import { filterParameter } from '../../shell/query-form.ts';
import { canCall, type Page, pathTo, textsFor, type View } from '../../shell/view.ts';
import { recentDeliveries } from '../deliveries/deliveries-table.ts';
import { endpointName } from '../deliveries/delivery.components.ts';
import { timeOf } from '../deliveries/delivery-times.ts';
import { egressAddresses, webhookGuide } from '../guide-links.ts';
import { MissedRange } from '../resends/resend-form.ts';
import { editSubscriptionTexts } from './edit-subscription.texts.ts';
import { type MissedEvents, missedEvents } from './missed-events.ts';
import { isShown, revealForm, secretTable } from './signing-secret.page.ts';
import { signingSecretTexts } from './signing-secret.texts.ts';
import { readSecrets, readSubscription, readSubscriptions } from './subscription-reads.ts';
import { healthFacts, stateInFull } from './subscription-state.ts';
import { subscriptionTexts } from './subscriptions.texts.ts';
import { testOutcome } from './test-event.ts';
import { withTroubleBanner } from './trouble-banner.ts';

const QUERY = Type.Object({
  /** The id of the test event whose outcome to show. */
  test: Type.Optional(Type.String({ format: 'uuid' })),
  /** What a subscription missed that has just been reactivated, and from when to when. */
  missed: MissedRange,
  missed_from: filterParameter,
  missed_to: filterParameter,
});

export function subscriptionPage(pages: Pages, config: DashboardConfig): void {
  pages.page(
    { path: '/webhooks/:subscriptionId', role: Role.VIEWER, section: 'webhooks', query: QUERY },
    async (view, { params, query }) => {
      const subscriptionId = params.subscriptionId!;
      const { test, missed: range } = query;
      const subscription = await readSubscription(view, subscriptionId, { withHealth: true });
      const [secrets, recent, outcome, all] = await Promise.all([
        subscription.deletedAt ? [] : readSecrets(view, subscriptionId),
        recentDeliveries(view, subscription),
        test === undefined ? undefined : testOutcome(view, subscriptionId, test),
        readSubscriptions(view, { withHealth: true }),
      ]);
      const [from, to] = [timeOf(query.missed_from ?? ''), timeOf(query.missed_to ?? '')];
      const missed = range && from && to ? { range, from, to } : undefined;
      const page = renderSubscription(view, { subscription, secrets, recent, outcome, missed, config });
      return withTroubleBanner(
        view,
        page,
        all.filter(({ id }) => id !== subscriptionId),
      );
    },
  );
}

interface SubscriptionDetails {
  readonly subscription: WebhookSubscription;
  readonly secrets: readonly SigningSecretStatus[];
  readonly recent: Html;
  /** The outcome of the test event in the query. */
  readonly outcome: Html | undefined;
  /** What it missed, right after a reactivation. */
  readonly missed: MissedEvents | undefined;
  readonly config: Pick<DashboardConfig, 'WEBHOOK_EGRESS_ADDRESSES'>;
}

/** A subscription: state, event types, secrets and actions. Everything that can change is live. */
function renderSubscription(
  view: View,
  { subscription, secrets, recent, outcome, missed, config }: SubscriptionDetails,
): Page {
  const t = textsFor(view, subscriptionTexts);
  const { id, url, state } = subscription;
  const isDisabled = state === WebhookSubscriptionState.DISABLED;
  const isDeleted = subscription.deletedAt !== undefined;
  const mayResend = canCall(view, DeliveryService.method.resendDeliveries) && !isDisabled;
  const mayTest = canCall(view, WebhookSubscriptionService.method.sendTestEvent) && !isDisabled;
  const live = {
    state: stateInFull(view, subscription),
    facts: facts(view, subscription),
    missed: mayResend && missed ? missedEvents(view, id, missed) : nothing,
    test: html`${mayTest || outcome ? html`<h2 id="test">${t.test.title}</h2>` : nothing}${outcome ?? nothing}`,
    send: mayTest ? sendForm(view, id) : nothing,
    recent: html`${recent}${mayResend ? resendLink(view, id) : nothing}`,
    secrets: isDeleted ? nothing : secretSection(view, id, secrets),
    actions: !isDeleted && canCall(view, changeState(isDisabled)) ? actions(view, id, isDisabled) : nothing,
  };
  const region = (name: keyof typeof live) => liveRegion(name, live[name]);
  return {
    title: endpointName(url, id),
    notices: t.notices,
    live,
    body: html`${breadcrumbs(view, 'webhooks')}
${region('state')}
${region('missed')}
<div class="parts">
<section class="card">${region('facts')}${isDeleted ? nothing : html`${egressAddresses(view, config)}${editLink(view, id)}`}${webhookGuide(view, 'states-of-a-subscription')}</section>
<section class="card"><h2>${t.eventTypes}</h2>${eventTypeList(subscription)}</section>
</div>
${region('test')}${region('send')}
<h2>${t.deliveries}</h2>
${region('recent')}
${region('secrets')}
${region('actions')}`,
  };
}

function editLink(view: View, id: string): Html {
  if (!canCall(view, WebhookSubscriptionService.method.updateWebhookSubscription)) return nothing;
  return html`<p><a class="button plain" href="${pathTo(view, `/webhooks/${id}/edit`)}">${textsFor(view, editSubscriptionTexts).edit}</a></p>`;
}

const changeState = (isDisabled: boolean) =>
  isDisabled
    ? WebhookSubscriptionService.method.reactivateWebhookSubscription
    : WebhookSubscriptionService.method.disableWebhookSubscription;

const eventTypeList = ({ eventTypes }: WebhookSubscription) =>
  html`<ul class="plain">${eventTypes.map((name) => html`<li><code>${name}</code></li>`)}</ul>`;

function facts(view: View, subscription: WebhookSubscription): Html {
  const t = textsFor(view, subscriptionTexts);
  const { maxConcurrentAttempts: concurrent, maxAttemptsPerSecond: perSecond, ordered } = subscription;
  const limits = [
    concurrent === undefined ? [] : [t.concurrent(view.format.number(concurrent))],
    perSecond === undefined ? [] : [t.perSecond(view.format.number(perSecond))],
  ].flat();
  return details([
    [t.url, html`<code>${subscription.url}</code>`],
    ...(subscription.description ? ([[t.description, subscription.description]] as const) : []),
    [t.created, moment(view, subscription.createdAt)],
    [t.id, html`<code>${subscription.id}</code>`],
    ...healthFacts(view, subscription.health),
    [t.limits, limits.length > 0 ? limits.join(', ') : t.noLimits],
    ...(ordered ? ([[t.ordered, t.orderedText]] as const) : []),
  ]);
}

function sendForm(view: View, id: string): Html {
  const t = textsFor(view, subscriptionTexts).test;
  return html`<p class="soft">${t.text} <code>${PING_TYPE}</code></p>
${form(view, { action: `/webhooks/${id}/test`, submit: t.send, tone: 'plain' })}`;
}

function resendLink(view: View, id: string): Html {
  return html`<p><a href="${pathTo(view, `/webhooks/${id}/resends`)}">${textsFor(view, subscriptionTexts).resend}</a></p>`;
}

function secretSection(view: View, id: string, secrets: readonly SigningSecretStatus[]): Html {
  const t = textsFor(view, signingSecretTexts);
  const buttons = html`<div class="row">${isShown(secrets) ? nothing : revealForm(view, { id })}
<a class="button plain" href="${pathTo(view, `/webhooks/${id}/rotate`)}">${t.rotate}</a></div>`;
  return html`<h2>${t.title}</h2>${secretTable(view, secrets)}${canCall(view, WebhookSubscriptionService.method.revealSigningSecret) ? buttons : nothing}`;
}

function actions(view: View, id: string, isDisabled: boolean): Html {
  const t = textsFor(view, subscriptionTexts);
  const action = isDisabled
    ? html`<p>${t.reactivate.text}</p>${form(view, { action: `/webhooks/${id}/reactivate`, submit: t.reactivate.submit })}`
    : confirmForm(view, t.disable.question, {
        action: `/webhooks/${id}/disable`,
        submit: t.disable.submit,
        tone: 'danger',
        text: t.disable.text,
      });
  const remove = confirmForm(view, t.remove.question, {
    action: `/webhooks/${id}/delete`,
    submit: t.remove.submit,
    tone: 'danger',
    text: t.remove.text,
  });
  return html`<h2>${t.actions}</h2>${action}${remove}`;
}
