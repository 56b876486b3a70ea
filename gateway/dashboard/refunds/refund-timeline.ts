import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import {
  MerchantDecisionKind,
  type RefundCase,
  RefundCaseStatus,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { moment, type TimelineStep, timeline } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import { refundCaseTexts } from './refund-case.texts.ts';

type TimeName = keyof (typeof refundCaseTexts)['en']['times'];
type NamedTime = readonly [name: TimeName, at: Timestamp];

/** The timeline of a case, past and future. */
export function caseTimeline(view: View, refundCase: RefundCase): Html {
  const t = textsFor(view, refundCaseTexts);
  const now = Date.now();
  const step = ([name, at]: NamedTime): TimelineStep => {
    const isAhead = timestampMs(at) > now;
    // No relative time for past steps: it would change every second, and with it the live region.
    const left = isAhead ? html` <span class="soft">${view.format.relative(at)}</span>` : nothing;
    const content = html`<strong>${t.times[name]}</strong> ${moment(view, at)}${left}`;
    return { state: isAhead ? 'waiting' : 'done', content };
  };
  return timeline(timesOf(refundCase).map(step));
}

function timesOf(refundCase: RefundCase): NamedTime[] {
  const awaitsDecision = refundCase.status === RefundCaseStatus.MERCHANT_REVIEW;
  // A deadline that was met is no longer relevant.
  const isExpired = refundCase.merchantDecision?.decision === MerchantDecisionKind.EXPIRED;
  const times: readonly (readonly [TimeName, Timestamp | undefined])[] = [
    ['paid', refundCase.paymentPaidAt],
    ['requested', refundCase.requestedAt],
    ['decided', refundCase.merchantDecision?.decidedAt],
    ['executing', refundCase.executionStartedAt],
    ['submitted', refundCase.provider?.submittedAt],
    ['updated', awaitsDecision ? undefined : refundCase.updatedAt],
    ['deadline', awaitsDecision || isExpired ? refundCase.merchantReviewDeadlineAt : undefined],
    ['windowEnd', refundCase.refundWindow?.expiresAt],
  ];
  return times
    .flatMap(([name, at]): NamedTime[] => (at ? [[name, at]] : []))
    .sort(([, a], [, b]) => timestampMs(a) - timestampMs(b));
}
