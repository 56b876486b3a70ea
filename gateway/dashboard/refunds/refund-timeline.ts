import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import {
  MerchantDecisionKind,
  type RefundCase,
  RefundCaseStatus,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { moment, type TimelineStep, timeline } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import { refundsTexts } from './refunds.texts.ts';

type TimeName = keyof (typeof refundsTexts)['en']['times'];
type NamedTime = readonly [name: TimeName, at: Timestamp];

/** The times of a case in their order, those that are still to come marked. */
export function caseTimeline(view: View, refundCase: RefundCase): Html {
  const t = textsFor(view, refundsTexts);
  const now = Date.now();
  const step = ([name, at]: NamedTime): TimelineStep => {
    const isAhead = timestampMs(at) > now;
    // How long ago something was changes by the second, and would be a change of the page to look at.
    const left = isAhead ? html` <span class="soft">${view.format.relative(at)}</span>` : nothing;
    const content = html`<strong>${t.times[name]}</strong> ${moment(view, at)}${left}`;
    return { state: isAhead ? 'waiting' : 'done', content };
  };
  return timeline(timesOf(refundCase).map(step));
}

function timesOf(refundCase: RefundCase): NamedTime[] {
  const isWaiting = refundCase.status === RefundCaseStatus.MERCHANT_REVIEW;
  // A deadline that somebody met is none any more.
  const isExpired = refundCase.merchantDecision?.decision === MerchantDecisionKind.EXPIRED;
  const times: readonly (readonly [TimeName, Timestamp | undefined])[] = [
    ['paid', refundCase.paymentPaidAt],
    ['requested', refundCase.requestedAt],
    ['decided', refundCase.merchantDecision?.decidedAt],
    ['executing', refundCase.executionStartedAt],
    ['submitted', refundCase.provider?.submittedAt],
    ['updated', isWaiting ? undefined : refundCase.updatedAt],
    ['deadline', isWaiting || isExpired ? refundCase.merchantReviewDeadlineAt : undefined],
    ['windowEnd', refundCase.refundWindow?.expiresAt],
  ];
  return times
    .flatMap(([name, at]): NamedTime[] => (at ? [[name, at]] : []))
    .sort(([, a], [, b]) => timestampMs(a) - timestampMs(b));
}
