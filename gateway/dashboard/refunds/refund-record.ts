import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import {
  ApprovalMode,
  MerchantDecisionKind,
  type RefundCase,
  RefundCaseStatus,
  RefundInitiator,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { Event } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { enumName } from '../../../services/platform/enum-name.ts';
import { identifiedSale, type SaleNames } from '../funds/sale-names.ts';
import { copyable, details, moment, type TimelineStep, timeline } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { refundCaseTexts } from './refund-case.texts.ts';
import { refundsTexts } from './refunds.texts.ts';

export function facts(view: View, refundCase: RefundCase, names: SaleNames): Html {
  const t = textsFor(view, refundCaseTexts);
  const list = textsFor(view, refundsTexts);
  const { approvalMode: mode, merchantDecision: decided, executions } = refundCase;
  return details([
    [t.id, copyable(view, refundCase.id)],
    [list.amount, view.format.money(refundCase.amountMinor)],
    [t.reference, refundCase.refundReference && words(refundCase.refundReference)],
    [t.reason, words(refundCase.reason)],
    [list.initiator, list.initiators[enumName(RefundInitiator, refundCase.initiator)]],
    [t.evidence, view.format.number(refundCase.evidenceCount)],
    [t.paymentId, payment(view, refundCase)],
    [t.sale, identifiedSale(view, refundCase.saleId, names)],
    [t.orderId, id(view, refundCase.orderId)],
    [t.invoice, id(view, refundCase.invoiceId)],
    [t.window, refundWindow(view, refundCase)],
    [t.decision, decided && t.decisions[enumName(MerchantDecisionKind, decided.decision)]],
    [t.decisionReason, decided?.reason && words(decided.reason)],
    [t.mode, mode ? t.modes[enumName(ApprovalMode, mode)] : undefined],
    [t.executions, executions > 0 ? view.format.number(executions) : undefined],
  ]);
}

export function providerSide(view: View, { provider }: RefundCase): Html {
  const t = textsFor(view, refundCaseTexts);
  if (!provider) return html`<p>${t.noProvider}</p>`;
  return details([
    [t.providerRefund, id(view, provider.refundId) ?? t.unknown],
    [t.providerStatus, provider.submissionStatus ?? t.unknown],
    [t.times.submitted, provider.submittedAt ? moment(view, provider.submittedAt) : t.unknown],
  ]);
}

const words = (text: string) => html`<span class="words">${text}</span>`;

const id = (view: View, value: string | undefined) =>
  value === undefined ? undefined : copyable(view, value);

function payment(view: View, { paymentIntentId }: RefundCase): Html {
  const others = pathTo(view, `/refunds?status=&payment=${paymentIntentId}`);
  return html`${copyable(view, paymentIntentId)} <a href="${others}">${textsFor(view, refundCaseTexts).others}</a>`;
}

function refundWindow(view: View, { refundWindow: window }: RefundCase): Html | undefined {
  if (!window) return undefined;
  const days = view.format.number(window.days);
  return html`${textsFor(view, refundCaseTexts).windowDays(days)} ${moment(view, window.expiresAt)}`;
}

type TimeName = keyof (typeof refundCaseTexts)['en']['times'];
type NamedTime = readonly [name: TimeName, at: Timestamp];

/** The events of outcomes. A refund that was paid may still fail, when the bank returns it. */
const OUTCOMES: Readonly<Record<string, TimeName>> = {
  'refund.succeeded.v1': 'succeeded',
  'refund.failed.v1': 'failed',
  'refund.canceled.v1': 'canceled',
  'refund.rejected.v1': 'rejected',
};

/** The timeline of a case, past and future. The times of outcomes are those of its events. */
export function caseTimeline(view: View, refundCase: RefundCase, events: readonly Event[]): Html {
  const t = textsFor(view, refundCaseTexts);
  const now = Date.now();
  const step = ([name, at]: NamedTime): TimelineStep => {
    const isAhead = timestampMs(at) > now;
    // No relative time for past steps: it would change every second, and with it the live region.
    const left = isAhead ? html` <span class="soft">${view.format.relative(at)}</span>` : nothing;
    const content = html`<strong>${t.times[name]}</strong> ${moment(view, at)}${left}`;
    return { state: isAhead ? 'waiting' : 'done', content };
  };
  return timeline(timesOf(refundCase, events).map(step));
}

function timesOf(refundCase: RefundCase, events: readonly Event[]): NamedTime[] {
  const outcomes = events.flatMap(({ type, timestamp }) => {
    const name = OUTCOMES[type];
    return name ? [[name, timestamp] as const] : [];
  });
  const awaitsDecision = refundCase.status === RefundCaseStatus.MERCHANT_REVIEW;
  // A deadline that was met is no longer relevant.
  const isExpired = refundCase.merchantDecision?.decision === MerchantDecisionKind.EXPIRED;
  const times: readonly (readonly [TimeName, Timestamp | undefined])[] = [
    ['paid', refundCase.paymentPaidAt],
    ['requested', refundCase.requestedAt],
    ['decided', refundCase.merchantDecision?.decidedAt],
    ['executing', refundCase.executionStartedAt],
    ['submitted', refundCase.provider?.submittedAt],
    ...outcomes,
    ['updated', awaitsDecision || outcomes.length > 0 ? undefined : refundCase.updatedAt],
    ['deadline', awaitsDecision || isExpired ? refundCase.merchantReviewDeadlineAt : undefined],
    ['windowEnd', refundCase.refundWindow?.expiresAt],
  ];
  return times
    .flatMap(([name, at]): NamedTime[] => (at ? [[name, at]] : []))
    .sort(([, a], [, b]) => timestampMs(a) - timestampMs(b));
}
