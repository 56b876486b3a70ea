import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import {
  type Attempt,
  type AttemptFailure,
  type Delivery,
  DeliveryStatus,
  type WebhookSubscription,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { MINUTE_MS } from '../../../../services/platform/durations.ts';
import { badge, moment, type Tone } from '../../shell/components.ts';
import { type Html, html } from '../../shell/html.ts';
import { type PlainView, textsFor } from '../../shell/view.ts';
import { attemptFailureTexts } from './attempt-failure.texts.ts';
import { deliveriesTexts } from './deliveries.texts.ts';

export type KnownStatus = Exclude<DeliveryStatus, DeliveryStatus.UNSPECIFIED>;

const TONES: Readonly<Record<KnownStatus, Tone>> = {
  [DeliveryStatus.PENDING]: 'busy',
  [DeliveryStatus.RETRYING]: 'busy',
  [DeliveryStatus.HELD]: 'off',
  [DeliveryStatus.BLOCKED]: 'off',
  [DeliveryStatus.SUCCEEDED]: 'good',
  [DeliveryStatus.EXHAUSTED]: 'bad',
  [DeliveryStatus.CANCELED]: 'off',
};

/** Whether the time of the next attempt is known: a delivery on hold may be due already and still wait. */
export const isScheduled = (status: DeliveryStatus) =>
  status === DeliveryStatus.PENDING || status === DeliveryStatus.RETRYING;

/** A delivery's status as a badge; with the subscription, that of a held delivery includes the reason. */
export function statusBadge(
  view: PlainView,
  delivery: Pick<Delivery, 'status'>,
  subscription?: Pick<WebhookSubscription, 'pausedAt'>,
): Html {
  const t = textsFor(view, deliveriesTexts);
  const status = delivery.status as KnownStatus;
  if (status !== DeliveryStatus.HELD || !subscription) return badge(TONES[status], t.statuses[status]);
  return badge(TONES[status], subscription.pausedAt ? t.heldPaused : t.heldFailing);
}

/** The result of an attempt: the HTTP status of the response, or why there was none. */
export function attemptResultText(
  view: PlainView,
  attempt: Pick<Attempt, 'httpStatus' | 'failure'> | undefined,
): string {
  const t = textsFor(view, deliveriesTexts);
  if (!attempt) return t.noAttempts;
  if (attempt.httpStatus !== undefined) return `HTTP ${attempt.httpStatus}`;
  if (attempt.failure === undefined) return t.inProgress;
  const texts: Partial<Record<AttemptFailure, { readonly summary: string }>> = textsFor(
    view,
    attemptFailureTexts,
  ).failures;
  return texts[attempt.failure]?.summary ?? t.otherFailure;
}

/** The response time; empty when none was measured. */
export function latencyText(view: PlainView, attempt: Attempt | undefined): string {
  if (attempt?.latencyMs === undefined) return '';
  return textsFor(view, deliveriesTexts).milliseconds(view.format.number(attempt.latencyMs));
}

/** A due time with its distance from now, in whole minutes: finer steps would update the live region every second. */
export function dueText(view: PlainView, at: Timestamp): Html {
  const t = textsFor(view, deliveriesTexts);
  const left = timestampMs(at) - Date.now();
  const relative = left <= 0 ? t.due : left < MINUTE_MS ? t.soon : view.format.relative(at);
  return html`<span>${moment(view, at)} <span class="soft">(${relative})</span></span>`;
}

/** An abbreviated id, with its end because UUIDs created at the same time share their start. */
export function shortId(id: string): string {
  return id.length > 16 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id;
}

/** An endpoint's host and path, abbreviated to fit on a line; the scheme is always https. */
export function endpointName(url: string | undefined, subscriptionId: string): string {
  const name = url?.replace(/^https:\/\//, '') ?? shortId(subscriptionId);
  return name.length > 48 ? `${name.slice(0, 40)}…${name.slice(-7)}` : name;
}
