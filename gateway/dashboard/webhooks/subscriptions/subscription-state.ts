import {
  type SubscriptionError,
  SubscriptionErrorCause,
  type WebhookSubscription,
  WebhookSubscriptionState,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { badge, moment, type Tone } from '../../shell/components.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import { type PlainView, textsFor } from '../../shell/view.ts';
import { answerWords } from '../deliveries/delivery-words.ts';
import { subscriptionStateTexts } from './subscription-state.texts.ts';

type StateName = keyof (typeof subscriptionStateTexts)['en']['states'];
type Subscription = Pick<WebhookSubscription, 'state' | 'pausedAt' | 'error' | 'disabledAt'>;

const TONES: Readonly<Record<StateName, Tone>> = {
  pending: 'busy',
  active: 'good',
  error: 'bad',
  disabled: 'off',
  paused: 'busy',
  unknown: 'off',
};

/** The state as a badge, with a second one while deliveries are paused. */
export function stateBadges(view: PlainView, { state, pausedAt }: Subscription): Html {
  const { states } = textsFor(view, subscriptionStateTexts);
  const name = nameOf(state);
  return html`${badge(TONES[name], states[name])}${pausedAt ? html` ${badge(TONES.paused, states.paused)}` : nothing}`;
}

/** Explains the last error and since when it lasts; empty without an error. */
export function troubleOf(view: PlainView, { error }: Subscription): Html {
  if (!error) return nothing;
  const t = textsFor(view, subscriptionStateTexts);
  return html`<p class="trouble">${errorText(view, error)} <span class="soft">${t.since} ${moment(view, error.since)}.</span></p>`;
}

/** The state with its meaning, its cause and since when it lasts. */
export function stateInFull(view: PlainView, subscription: Subscription): Html {
  const t = textsFor(view, subscriptionStateTexts);
  const { state, pausedAt, disabledAt } = subscription;
  const since = (at: typeof pausedAt) => (at ? html` ${t.since} ${moment(view, at)}.` : nothing);
  return html`<p class="state">${stateBadges(view, subscription)} ${t.meanings[nameOf(state)]}${since(disabledAt)}</p>
${troubleOf(view, subscription)}
${pausedAt ? html`<p class="soft">${t.meanings.paused}${since(pausedAt)}</p>` : nothing}`;
}

/** Explains why a subscription is in ERROR, or was disabled by its endpoint. */
export function errorText(view: PlainView, error: SubscriptionError): string {
  const t = textsFor(view, subscriptionStateTexts);
  const { format } = view;
  switch (error.cause) {
    case SubscriptionErrorCause.DELIVERY_EXHAUSTED:
      return t.exhausted(format.number(error.attempts ?? 0), answerWords(view, error));
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

function nameOf(state: WebhookSubscriptionState): StateName {
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
