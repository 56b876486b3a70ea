import {
  type EndpointHealth,
  type SubscriptionError,
  SubscriptionErrorCause,
  type WebhookSubscription,
  WebhookSubscriptionState,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { badge, moment, NONE, type Tone } from '../../shell/components.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import { type PlainView, textsFor } from '../../shell/view.ts';
import { attemptResultText } from '../deliveries/delivery.components.ts';
import { subscriptionStateTexts } from './subscription-state.texts.ts';

type StateName = keyof (typeof subscriptionStateTexts)['en']['states'];
type Subscription = Pick<
  WebhookSubscription,
  'state' | 'pausedAt' | 'error' | 'disabledAt' | 'deletedAt' | 'health'
>;

const TONES: Readonly<Record<StateName, Tone>> = {
  pending: 'busy',
  active: 'good',
  error: 'bad',
  disabled: 'off',
  deleted: 'off',
  paused: 'busy',
  unknown: 'off',
};

/** The state as a badge, with further ones while it is failing, and while deliveries are paused. */
export function stateBadges(view: PlainView, subscription: Subscription): Html {
  const { states } = textsFor(view, subscriptionStateTexts);
  const name = nameOf(subscription);
  const badges = [badge(TONES[name], states[name])];
  // An ERROR has the same name.
  if (subscription.health?.failingSince && name !== 'error') badges.push(badge(TONES.error, states.error));
  if (subscription.pausedAt) badges.push(badge(TONES.paused, states.paused));
  return html`${badges.map((each) => html`${each} `)}`;
}

/** Explains since when it has been failing, and the last error; empty without either. */
export function troubleOf(view: PlainView, subscription: Pick<Subscription, 'error' | 'health'>): Html {
  const texts = troubleTextsOf(view, subscription);
  return html`${texts.map((text) => html`<p class="trouble">${text}</p>`)}`;
}

/** The same, as texts. */
export function troubleTextsOf(
  view: PlainView,
  { error, health }: Pick<Subscription, 'error' | 'health'>,
): Html[] {
  const t = textsFor(view, subscriptionStateTexts);
  const failing = health && failingText(view, health);
  return [
    ...(failing ? [failing] : []),
    ...(error
      ? [html`${errorText(view, error)} <span class="soft">${t.since} ${moment(view, error.since)}.</span>`]
      : []),
  ];
}

/** “Failing since 10:04: HTTP 500. 0 of 10 attempts delivered in the last hour.”; undefined unless it is failing. */
function failingText(view: PlainView, health: EndpointHealth): Html | undefined {
  if (!health.failingSince) return undefined;
  const t = textsFor(view, subscriptionStateTexts);
  const { delivered, attempts } = health;
  const counts = t.delivered(view.format.number(Number(delivered)), view.format.number(Number(attempts)));
  return html`${t.failingSince} ${moment(view, health.failingSince)}: ${attemptResultText(view, health)}. ${counts}.`;
}

/** Success rate, last success and 95th percentile of the response time, for a list of details. */
export function healthFacts(view: PlainView, health: EndpointHealth | undefined): [string, Html | string][] {
  if (!health) return [];
  const t = textsFor(view, subscriptionStateTexts);
  const [attempts, delivered] = [Number(health.attempts), Number(health.delivered)];
  const counts = t.delivered(view.format.number(delivered), view.format.number(attempts));
  const rate = attempts === 0 ? t.noAttempts : `${view.format.percent(delivered / attempts)} (${counts})`;
  return [
    [t.successRate, rate],
    [t.lastSuccess, moment(view, health.lastSuccessAt)],
    [t.p95, health.p95Ms === undefined ? NONE : t.within(view.format.number(health.p95Ms))],
  ];
}

/** The state with its meaning, its cause and its start. */
export function stateInFull(view: PlainView, subscription: Subscription): Html {
  const t = textsFor(view, subscriptionStateTexts);
  const { pausedAt, deletedAt, disabledAt } = subscription;
  const since = (at: typeof pausedAt) => (at ? html` ${t.since} ${moment(view, at)}.` : nothing);
  return html`<p class="state">${stateBadges(view, subscription)} ${t.meanings[meaningOf(subscription)]}${since(deletedAt ?? disabledAt)}</p>
${troubleOf(view, subscription)}
${pausedAt ? html`<p class="soft">${t.meanings.paused}${since(pausedAt)}</p>` : nothing}`;
}

/** A failing subscription stays ACTIVE until a delivery has exhausted its attempts. */
function meaningOf(subscription: Subscription): StateName | 'failing' {
  const name = nameOf(subscription);
  return name === 'active' && subscription.health?.failingSince ? 'failing' : name;
}

/** Explains why a subscription is in ERROR, or was disabled by its endpoint. */
export function errorText(view: PlainView, error: SubscriptionError): string {
  const t = textsFor(view, subscriptionStateTexts);
  const { format } = view;
  switch (error.cause) {
    case SubscriptionErrorCause.DELIVERY_EXHAUSTED:
      return t.exhausted(format.number(error.attempts ?? 0), attemptResultText(view, error));
    case SubscriptionErrorCause.DELIVERY_EXPIRED:
      return t.expired(format.number(error.retentionDays ?? 0));
    case SubscriptionErrorCause.GONE:
      return t.gone;
    case SubscriptionErrorCause.UNSPECIFIED:
      return t.unknownError;
    default:
      return error.cause satisfies never;
  }
}

function nameOf({ state, deletedAt }: Subscription): StateName {
  if (deletedAt) return 'deleted';
  switch (state) {
    case WebhookSubscriptionState.PENDING:
      return 'pending';
    case WebhookSubscriptionState.ACTIVE:
      return 'active';
    case WebhookSubscriptionState.ERROR:
      return 'error';
    case WebhookSubscriptionState.DISABLED:
      return 'disabled';
    case WebhookSubscriptionState.UNSPECIFIED:
      return 'unknown';
    default:
      return state satisfies never;
  }
}
