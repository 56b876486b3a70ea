import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { type Static, Type } from 'typebox';
import { validate as isUuid } from 'uuid';
import {
  DeliveryStatus,
  type ListDeliveriesRequest,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { field, inputField, pageParameter, select } from '../../shell/components.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import { filterField, filterParameter, queryForm } from '../../shell/query-form.ts';
import { textsFor, type View } from '../../shell/view.ts';
import { deliveriesTexts } from './deliveries.texts.ts';
import { shortId } from './delivery.components.ts';
import { localTime, timeOf } from './delivery-times.ts';

/** The query parameters of a list of deliveries; empty is the same as absent. */
export const DeliveriesQuery = Type.Object({
  type: filterParameter,
  status: filterParameter,
  since: filterParameter,
  before: filterParameter,
  request: filterParameter,
  object: filterParameter,
  event: filterParameter,
  resend: filterParameter,
  page: pageParameter,
});

export type DeliveriesQueryValues = Static<typeof DeliveriesQuery>;

const STATUSES = {
  pending: DeliveryStatus.PENDING,
  retrying: DeliveryStatus.RETRYING,
  held: DeliveryStatus.HELD,
  blocked: DeliveryStatus.BLOCKED,
  succeeded: DeliveryStatus.SUCCEEDED,
  exhausted: DeliveryStatus.EXHAUSTED,
  canceled: DeliveryStatus.CANCELED,
} as const;

type Fault = 'badTime' | 'badRange' | 'badId' | 'badText';

/** The filters as the RPC expects them, and the invalid ones. */
export interface ParsedFilters {
  readonly request: Pick<
    ListDeliveriesRequest,
    'eventType' | 'status' | 'createdFrom' | 'createdTo' | 'requestId' | 'objectId' | 'eventId' | 'resendId'
  >;
  readonly faults: Readonly<Partial<Record<keyof DeliveriesQueryValues, Fault>>>;
  /** Whether any filter is set. */
  readonly any: boolean;
}

export function parseFilters(query: DeliveriesQueryValues): ParsedFilters {
  const faults: Partial<Record<keyof DeliveriesQueryValues, Fault>> = {};
  const given = (name: keyof DeliveriesQueryValues) => query[name]?.trim() || undefined;
  const parse = <T>(
    name: keyof DeliveriesQueryValues,
    fault: Fault,
    value: (text: string) => T | undefined,
  ) => {
    const text = given(name);
    const meant = text === undefined ? undefined : value(text);
    if (text !== undefined && meant === undefined) faults[name] = fault;
    return meant;
  };
  const text = (value: string) => (/^[\x20-\x7e]+$/.test(value) ? value : undefined);
  // The publisher of an event chooses the id of its object.
  const objectId = (value: string) => (/\p{Cc}/u.test(value) ? undefined : value);
  const id = (value: string) => (isUuid(value) ? value : undefined);
  const status = given('status');
  const names = ['type', 'status', 'since', 'before', 'request', 'object', 'event', 'resend'] as const;
  const request = {
    eventType: parse('type', 'badText', text),
    status: isStatus(status) ? STATUSES[status] : undefined,
    createdFrom: parse('since', 'badTime', timeOf),
    createdTo: parse('before', 'badTime', timeOf),
    requestId: parse('request', 'badText', text),
    objectId: parse('object', 'badText', objectId),
    eventId: parse('event', 'badId', id),
    resendId: parse('resend', 'badId', id),
  };
  const { createdFrom, createdTo } = request;
  if (createdFrom && createdTo && timestampMs(createdFrom) >= timestampMs(createdTo))
    faults.since = 'badRange';
  return { request, faults, any: names.some((name) => given(name) !== undefined) };
}

/** Whether a value is a known status. */
const isStatus = (text: string | undefined): text is keyof typeof STATUSES =>
  text !== undefined && Object.hasOwn(STATUSES, text);

/** The filter form; it reloads the page with another query. */
export function filterForm(
  view: View,
  query: DeliveriesQueryValues,
  { request, faults, any }: ParsedFilters,
  eventTypes: readonly string[],
): Html {
  const all = textsFor(view, deliveriesTexts);
  const t = all.filters;
  const [path = ''] = view.url.split('?');
  const fault = (name: keyof DeliveriesQueryValues) => faults[name] && t[faults[name]];
  const typed = (name: keyof DeliveriesQueryValues, label: string) =>
    filterField({ name, label, fault: fault(name) }, query[name] ?? '');
  const time = (name: 'since' | 'before', label: string, at: Timestamp | undefined) =>
    inputField(
      { name, label, fault: fault(name) },
      at ? localTime(at) : '',
      html`type="datetime-local" step="1"`,
    );
  const statuses = Object.entries(STATUSES).map(([name, status]) => [name, all.statuses[status]] as const);
  const isNarrowed = (['since', 'before', 'request', 'object', 'event'] as const).some((name) => query[name]);
  const types = eventTypes.map((name) => [name, name] as const);
  const fields = html`${field({ name: 'type', label: t.type }, select([['', t.any], ...types], query.type))}
${field({ name: 'status', label: t.status }, select([['', t.anyStatus], ...statuses], query.status))}
<details class="more"${isNarrowed ? html` open` : nothing}><summary>${t.more}</summary><div class="filters">
${time('since', t.from, request.createdFrom)}
${time('before', t.to, request.createdTo)}
${typed('request', t.request)}
${typed('object', t.object)}
${typed('event', t.event)}
</div></details>
${query.resend ? html`<label class="option"><input type="checkbox" name="resend" value="${query.resend}" checked> ${t.resend(shortId(query.resend))}</label>` : nothing}`;
  const clear = any ? html`<a href="${path}">${t.clear}</a>` : nothing;
  return queryForm(view, { fields, more: clear });
}
