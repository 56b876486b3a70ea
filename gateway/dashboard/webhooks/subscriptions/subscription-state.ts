import {
  type Attempt,
  AttemptFailure,
  type WebhookSubscription,
  WebhookSubscriptionState,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { badge, moment, type Tone } from '../../shell/components.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import { type PlainView, textsFor } from '../../shell/view.ts';
import { answerWords } from '../deliveries/delivery-words.ts';
import { subscriptionStateTexts } from './subscription-state.texts.ts';

type StateName = keyof (typeof subscriptionStateTexts)['en']['states'];
type Subscription = Pick<
  WebhookSubscription,
  'state' | 'pausedAt' | 'errorReason' | 'errorAt' | 'disabledAt'
>;

type FailureName = keyof typeof AttemptFailure;

const TONES: Readonly<Record<StateName, Tone>> = {
  pending: 'busy',
  active: 'good',
  error: 'bad',
  disabled: 'off',
  paused: 'busy',
  unknown: 'off',
};

const EXHAUSTED = /^a delivery failed (\d+) times, at last with (?:HTTP (\d{3})|([A-Z_]+))$/;
const GIVEN_UP = /^a delivery was given up: it was still open (\d+) days after its event$/;
const GONE = 'the endpoint answered HTTP 410';

/** The state in a word, beside it whether deliveries are held back. */
export function stateBadges(view: PlainView, { state, pausedAt }: Subscription): Html {
  const { states } = textsFor(view, subscriptionStateTexts);
  const name = nameOf(state);
  return html`${badge(TONES[name], states[name])}${pausedAt ? html` ${badge(TONES.paused, states.paused)}` : nothing}`;
}

/** Why and since when it is in trouble, in a sentence; nothing when it is not. */
export function troubleOf(view: PlainView, { errorReason, errorAt }: Subscription): Html {
  if (errorReason === undefined) return nothing;
  const t = textsFor(view, subscriptionStateTexts);
  return html`<p class="trouble">${reasonText(view, errorReason)} <span class="soft">${t.since} ${moment(view, errorAt)}.</span></p>`;
}

/** The state with what it means, why it came to it and since when. */
export function stateInFull(view: PlainView, subscription: Subscription): Html {
  const t = textsFor(view, subscriptionStateTexts);
  const { state, pausedAt, disabledAt } = subscription;
  const since = (at: typeof pausedAt) => (at ? html` ${t.since} ${moment(view, at)}.` : nothing);
  return html`<p class="state">${stateBadges(view, subscription)} ${t.meanings[nameOf(state)]}${since(disabledAt)}</p>
${troubleOf(view, subscription)}
${pausedAt ? html`<p class="soft">${t.meanings.paused}${since(pausedAt)}</p>` : nothing}`;
}

/** The reason of an ERROR in the language of who looks. Never a receiver's words; what is not known is shown as it is. */
export function reasonText(view: PlainView, reason: string): string {
  const t = textsFor(view, subscriptionStateTexts);
  if (reason === GONE) return t.gone;
  const days = GIVEN_UP.exec(reason)?.[1];
  if (days !== undefined) return t.givenUp(days);
  const [, attempts, status, failure] = EXHAUSTED.exec(reason) ?? [];
  if (attempts === undefined) return reason;
  const last = status ? { httpStatus: Number(status) } : { failure: AttemptFailure[failure as FailureName] };
  return t.exhausted(attempts, answerWords(view, last as Attempt));
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
