import { type Timestamp, timestampNow } from '@bufbuild/protobuf/wkt';
import { type Static, Type } from 'typebox';
import { validate as isUuid } from 'uuid';
import {
  DeliveryService,
  type ResendDeliveriesRequest,
  type WebhookSubscription,
  WebhookSubscriptionState,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { inputField, notice } from '../../shell/components.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import { filterField, filterParameter } from '../../shell/query-form.ts';
import { canCall, pathTo, textsFor, type View } from '../../shell/view.ts';
import { localTime, timeOf } from '../deliveries/delivery-times.ts';
import { resendsTexts } from './resends.texts.ts';

const DAY_S = 86_400n;
/** The positions of missed events, from the first to before the second: `12-40`. */
export const MissedRange = Type.Optional(Type.String({ pattern: '^([0-9]{1,18}-[0-9]{1,18})?$' }));

/** Which events of the selection are resent: those that failed, also those never sent, or all. */
export const SCOPES = ['failed', 'undelivered', 'all'] as const;
export type Scope = (typeof SCOPES)[number];

/**
 * What to resend: what a subscription missed, or a period (`from` and `to`, RFC 3339 or Brasília time), or `event_id`, or
 * `request_id`; and which of its events.
 */
export const ResendFields = Type.Object({
  missed: MissedRange,
  from: filterParameter,
  to: filterParameter,
  event_id: filterParameter,
  request_id: filterParameter,
  scope: Type.Optional(Type.Union(SCOPES.map((scope) => Type.Literal(scope)))),
});

export type ResendValues = Static<typeof ResendFields>;
type FieldName = 'from' | 'to' | 'event_id' | 'request_id';
export type ResendFaults = Readonly<Partial<Record<FieldName, keyof (typeof resendsTexts)['en']['faults']>>>;
export type Selection = Exclude<ResendDeliveriesRequest['selection'], { case: undefined }>;

/** Parses the selection for the RPC; `faults` when it is invalid. */
export function parseSelection(values: ResendValues): { selection: Selection } | { faults: ResendFaults } {
  if (values.missed) return { selection: missedSelection(values.missed) };
  const given = (name: FieldName) => values[name]?.trim() || undefined;
  const [event, request] = [given('event_id'), given('request_id')];
  if (given('from') !== undefined || given('to') !== undefined) {
    if (event !== undefined || request !== undefined) return { faults: { event_id: 'one' } };
    const [from, to] = [timeOf(given('from') ?? ''), timeOf(given('to') ?? '')];
    if (!from || !to) return { faults: { ...(!from && { from: 'time' }), ...(!to && { to: 'time' }) } };
    return {
      selection: { case: 'period', value: { $typeName: 'payments.webhooks.v1.PublishedPeriod', from, to } },
    };
  }
  if ((event === undefined) === (request === undefined)) return { faults: { event_id: 'one' } };
  if (event !== undefined)
    return isUuid(event)
      ? { selection: { case: 'eventId', value: event } }
      : { faults: { event_id: 'eventId' } };
  if (!/^[\x20-\x7e]+$/.test(request!)) return { faults: { request_id: 'text' } };
  return { selection: { case: 'requestId', value: request! } };
}

function missedSelection(range: string): Selection {
  const [from, before] = range.split('-').map(BigInt);
  return {
    case: 'missed',
    value: { $typeName: 'payments.webhooks.v1.MissedEvents', from: from!, before: before! },
  };
}

/** The resend forms, collapsed; empty for viewers. */
export function resendSection(view: View, subscription: WebhookSubscription): Html {
  if (!canCall(view, DeliveryService.method.resendDeliveries)) return nothing;
  const t = textsFor(view, resendsTexts);
  return html`<details class="confirm"><summary>${t.form.title}</summary>${resendForms(view, subscription, lastDay())}</details>`;
}

export const scopeFields = (scope: Scope) => ({
  onlyFailed: scope !== 'all',
  skipNeverSent: scope === 'failed',
});

/** The default selection: the last day. */
export function lastDay(): ResendValues {
  const now = timestampNow();
  const from = { ...now, seconds: now.seconds - DAY_S };
  return { from: localTime(from), to: localTime(now) };
}

/** The resend forms with submitted values and their faults. */
export function resendForms(
  view: View,
  { id, state }: Pick<WebhookSubscription, 'id' | 'state'>,
  values: ResendValues,
  faults: ResendFaults = {},
): Html {
  const { form: t, faults: faultTexts, refusals } = textsFor(view, resendsTexts);
  if (state === WebhookSubscriptionState.DISABLED) return notice('off', refusals.WEBHOOK_SUBSCRIPTION_STATE);
  const faultOf = (name: FieldName) => faults[name] && faultTexts[faults[name]];
  const previewForm = (submit: string, fields: Html) =>
    html`<form method="get" action="${pathTo(view, `/webhooks/${id}/resends/preview`)}">${fields}<button class="primary">${submit}</button></form>`;
  const time = (name: 'from' | 'to', label: string) =>
    inputField(
      { name, label, fault: faultOf(name) },
      localOf(values[name]),
      html`type="datetime-local" step="1" required`,
    );
  const text = (name: 'event_id' | 'request_id', label: string) =>
    filterField({ name, label, fault: faultOf(name) }, values[name] ?? '');
  return html`<p class="soft">${t.intro}</p>
<div class="cards">
<section class="card"><h2>${t.period}</h2>${previewForm(t.preview, html`${time('from', t.from)}${time('to', t.to)}`)}</section>
<section class="card"><h2>${t.one}</h2>${previewForm(t.preview, html`${text('event_id', t.event)}${text('request_id', t.request)}`)}</section>
</div>`;
}

/** Query times may be RFC 3339; the input expects Brasília time. */
function localOf(text: string | undefined): string {
  const at: Timestamp | undefined = timeOf(text?.trim() ?? '');
  return at ? localTime(at) : '';
}
