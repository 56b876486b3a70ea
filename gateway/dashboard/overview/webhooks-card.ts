import { ApiKeyService } from '../../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import {
  type WebhookSubscription,
  WebhookSubscriptionService,
  WebhookSubscriptionState,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { form, hiddenFields, link } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { canCall, textsFor, type View } from '../shell/view.ts';
import { stateBadges } from '../webhooks/subscriptions/subscription-state.ts';
import { card } from './card.ts';
import { overviewTexts } from './overview.texts.ts';

/** The states that need attention come first. */
const STATES = [
  WebhookSubscriptionState.ERROR,
  WebhookSubscriptionState.PENDING,
  WebhookSubscriptionState.ACTIVE,
  WebhookSubscriptionState.DISABLED,
] as const;

/**
 * The number of subscriptions by state; those that are failing count as such already before they are in ERROR, and those whose
 * deliveries are paused on their own.
 */
export function webhooksCard(view: View, reading: Promise<readonly WebhookSubscription[]>): Promise<Html> {
  const t = textsFor(view, overviewTexts);
  const mayCreate = canCall(view, WebhookSubscriptionService.method.createWebhookSubscription);
  return card(view, {
    name: 'webhooks',
    title: t.webhooks,
    call: reading,
    render: (subscriptions) =>
      subscriptions.length > 0
        ? counts(view, subscriptions)
        : html`<p>${t.noWebhooks}</p>${firstKeyForm(view)}`,
    links: () =>
      html`${link(view, '/webhooks', t.toWebhooks)}${mayCreate ? html` ${link(view, '/webhooks/new', t.createWebhook)}` : nothing}`,
  });
}

/** Creates, by one click, the key with which the sandbox's webhooks are received on one's own machine. */
function firstKeyForm(view: View): Html {
  if (view.environment === 'live' || !canCall(view, ApiKeyService.method.issueApiKey)) return nothing;
  const t = textsFor(view, overviewTexts);
  const fields = hiddenFields({ name: t.ownMachine, scopes: 'webhooks:manage' });
  return html`<p>${t.ownMachineHint}</p>
${form(view, { action: '/api-keys/issue', submit: t.createKey, fields })}`;
}

function counts(view: View, subscriptions: readonly WebhookSubscription[]): Html {
  const items = STATES.flatMap((state) => {
    const inState = subscriptions.filter((subscription) => countedAs(subscription) === state);
    const paused = inState.filter(({ pausedAt }) => pausedAt);
    return [
      countOf(view, inState.length - paused.length, { state }),
      countOf(view, paused.length, { state, pausedAt: paused[0]?.pausedAt }),
    ];
  });
  return html`<p class="hint">${textsFor(view, overviewTexts).webhooksHint}</p><ul class="counts">${items}</ul>`;
}

function countOf(view: View, count: number, counted: Parameters<typeof stateBadges>[1]): Html {
  if (count === 0) return nothing;
  return html`<li><span class="figure">${view.format.number(count)}</span> ${stateBadges(view, counted)}</li>`;
}

/** As the banner and the list of subscriptions, the card calls both failing subscriptions and those in ERROR failing. */
const countedAs = ({ state, health }: WebhookSubscription) =>
  health?.failingSince ? WebhookSubscriptionState.ERROR : state;
