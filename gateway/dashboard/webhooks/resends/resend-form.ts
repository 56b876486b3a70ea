import { type Timestamp, timestampNow } from '@bufbuild/protobuf/wkt';
import { type Static, Type } from 'typebox';
import { validate as isUuid } from 'uuid';
import {
  type ResendDeliveriesRequest,
  type WebhookSubscription,
  WebhookSubscriptionState,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { field, form, notice } from '../../shell/components.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import { mayDevelop, textsFor, type View } from '../../shell/view.ts';
import { localTime, timeOf } from '../deliveries/delivery-times.ts';
import { resendsTexts } from './resends.texts.ts';

const DAY_S = 86_400n;
const Text = Type.Optional(Type.String({ maxLength: 100 }));

/**
 * What to resend: a period (`from` and `to`, RFC 3339 or Brasília time), or `event_id`, or `request_id`; and whether only
 * undelivered events.
 */
export const ResendFields = Type.Object({
  from: Text,
  to: Text,
  event_id: Text,
  request_id: Text,
  only_failed: Type.Optional(Type.Union([Type.Literal('yes'), Type.Literal('no'), Type.Literal('')])),
});

export type ResendValues = Static<typeof ResendFields>;
type FieldName = 'from' | 'to' | 'event_id' | 'request_id';
export type ResendFaults = Readonly<Partial<Record<FieldName, keyof (typeof resendsTexts)['en']['faults']>>>;
type Selection = Exclude<ResendDeliveriesRequest['selection'], { case: undefined }>;

/** Parses the selection for the RPC; `faults` when it is invalid. */
export function parseSelection(values: ResendValues): { selection: Selection } | { faults: ResendFaults } {
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

/** The resend forms, collapsed; empty for viewers. */
export function resendPart(view: View, subscription: WebhookSubscription): Html {
  if (!mayDevelop(view)) return nothing;
  const t = textsFor(view, resendsTexts);
  return html`<details class="confirm"><summary>${t.form.title}</summary>${resendForms(view, subscription, lastDay())}</details>`;
}

/** The default selection: undelivered events of the last day. */
export function lastDay(): ResendValues {
  const now = timestampNow();
  const from = { ...now, seconds: now.seconds - DAY_S };
  return { from: localTime(from), to: localTime(now), only_failed: 'yes' };
}

/** The resend forms with submitted values and their faults. */
export function resendForms(
  view: View,
  { id, state }: Pick<WebhookSubscription, 'id' | 'state'>,
  values: ResendValues,
  faults: ResendFaults = {},
): Html {
  const { form: t, faults: faultTexts } = textsFor(view, resendsTexts);
  if (state === WebhookSubscriptionState.DISABLED) return notice('off', t.disabled);
  const faultOf = (name: FieldName) => faults[name] && faultTexts[faults[name]];
  const action = `/webhooks/${id}/resends`;
  const time = (name: 'from' | 'to', label: string) =>
    field(
      { name, label, fault: faultOf(name) },
      (attributes) =>
        html`<input ${attributes} type="datetime-local" step="1" required value="${localOf(values[name])}">`,
    );
  const text = (name: 'event_id' | 'request_id', label: string) =>
    field(
      { name, label, fault: faultOf(name) },
      (attributes) =>
        html`<input ${attributes} value="${values[name] ?? ''}" maxlength="100" spellcheck="false">`,
    );
  const onlyFailed = (isChecked: boolean) =>
    html`<label class="option"><input type="checkbox" name="only_failed" value="yes"${
      isChecked ? html` checked` : nothing
    }> ${t.onlyFailed}</label>`;
  const isChecked = values.only_failed === 'yes';
  // An explicitly named event is resent even if it was delivered.
  const namesOne = values.event_id !== undefined || values.request_id !== undefined;
  return html`<p class="soft">${t.intro}</p>
<div class="cards">
<section class="card"><h2>${t.period}</h2>${form(view, {
    action,
    submit: t.submitPeriod,
    fields: html`${time('from', t.from)}${time('to', t.to)}${onlyFailed(isChecked)}`,
  })}</section>
<section class="card"><h2>${t.one}</h2>${form(view, {
    action,
    submit: t.submitOne,
    fields: html`${text('event_id', t.event)}${text('request_id', t.request)}${onlyFailed(isChecked && namesOne)}`,
  })}</section>
</div>`;
}

/** Query times may be RFC 3339; the input expects Brasília time. */
function localOf(text: string | undefined): string {
  const at: Timestamp | undefined = timeOf(text?.trim() ?? '');
  return at ? localTime(at) : '';
}
