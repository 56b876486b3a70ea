import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import {
  type Attempt,
  type AttemptFailure,
  type Delivery,
  DeliveryStatus,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { badge, moment, type Tone } from '../../shell/components.ts';
import { type Html, html } from '../../shell/html.ts';
import { type PlainView, textsFor } from '../../shell/view.ts';
import { deliveriesTexts } from './deliveries.texts.ts';

/** The states that people may filter by, and see. */
export type SeenStatus = Exclude<DeliveryStatus, DeliveryStatus.UNSPECIFIED>;

const MINUTE_MS = 60_000;

/** How good or bad it is that a delivery is in a state. */
function toneOf(status: SeenStatus): Tone {
  switch (status) {
    case DeliveryStatus.SUCCEEDED:
      return 'good';
    case DeliveryStatus.PENDING:
    case DeliveryStatus.RETRYING:
      return 'busy';
    case DeliveryStatus.EXHAUSTED:
      return 'bad';
    case DeliveryStatus.HELD:
    case DeliveryStatus.BLOCKED:
    case DeliveryStatus.CANCELED:
      return 'off';
    default:
      return status satisfies never;
  }
}

/** A delivery's state in a word and a colour. */
export function statusBadge(view: PlainView, { status }: Pick<Delivery, 'status'>): Html {
  const seen = status as SeenStatus;
  return badge(toneOf(seen), textsFor(view, deliveriesTexts).statuses[seen]);
}

/** What an attempt came to: the status that the endpoint answered, or why there was no answer. */
export function answerWords(
  view: PlainView,
  attempt: Pick<Attempt, 'httpStatus' | 'failure'> | undefined,
): string {
  const t = textsFor(view, deliveriesTexts);
  if (!attempt) return t.notTaken;
  if (attempt.httpStatus !== undefined) return `HTTP ${attempt.httpStatus}`;
  if (attempt.failure === undefined) return t.underWay;
  const words: Partial<Record<AttemptFailure, string>> = t.failures;
  return words[attempt.failure] ?? t.otherFailure;
}

/** How long the endpoint took; empty where nothing was measured. */
export function latencyWords(view: PlainView, attempt: Attempt | undefined): string {
  if (attempt?.latencyMs === undefined) return '';
  return textsFor(view, deliveriesTexts).milliseconds(view.format.number(attempt.latencyMs));
}

/**
 * When something is due, as a date and from now. Never finer than minutes: else every second would be a change to be
 * sent to whoever looks on.
 */
export function dueWords(view: PlainView, at: Timestamp, now: Date = new Date()): Html {
  const t = textsFor(view, deliveriesTexts);
  const left = timestampMs(at) - now.getTime();
  const relative = left <= 0 ? t.now : left < MINUTE_MS ? t.soon : view.format.relative(at, now);
  return html`<span>${moment(view, at)} <span class="soft">(${relative})</span></span>`;
}

/** Enough of an id to tell those on one page apart: UUIDs of one time begin alike. */
export function shortId(id: string): string {
  return id.length > 16 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id;
}

/** As much of an endpoint's host and path as fits a line; all have https. */
export function endpointName(url: string | undefined, subscriptionId: string): string {
  const name = url?.replace(/^https:\/\//, '') ?? shortId(subscriptionId);
  return name.length > 48 ? `${name.slice(0, 40)}…${name.slice(-7)}` : name;
}
