import {
  RefundBlocker,
  type RefundCase,
  RefundCaseStatus,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { badge, deadlineBadge, moment, type Tone } from '../shell/components.ts';
import { type Html, html } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import { refundsTexts } from './refunds.texts.ts';

/** The statuses of a case, by name, in the usual order. */
export const STATES = [
  'MERCHANT_REVIEW',
  'SERVICE_REVIEW',
  'APPROVED_FOR_EXECUTION',
  'FUNDING_REQUIRED',
  'PROCESSING',
  'SUCCEEDED',
  'FAILED',
  'CANCELED',
  'REJECTED',
] as const;

export type StateName = (typeof STATES)[number];
type BlockerName = keyof (typeof refundsTexts)['en']['blockerNames'];

/** The name of a case's status. */
export const stateOf = ({ status }: Pick<RefundCase, 'status'>) => RefundCaseStatus[status] as StateName;

/** A case's status as a badge. */
export function stateBadge(view: View, refundCase: Pick<RefundCase, 'status'>): Html {
  const state = stateOf(refundCase);
  return badge(toneOf(state), textsFor(view, refundsTexts).states[state]);
}

function toneOf(state: StateName): Tone {
  switch (state) {
    case 'MERCHANT_REVIEW':
    case 'SERVICE_REVIEW':
    case 'APPROVED_FOR_EXECUTION':
    case 'PROCESSING':
      return 'busy';
    case 'SUCCEEDED':
      return 'good';
    case 'FUNDING_REQUIRED':
    case 'FAILED':
      return 'bad';
    case 'CANCELED':
    case 'REJECTED':
      return 'off';
    default:
      return state satisfies never;
  }
}

/** The decision deadline: the time left while the case awaits the merchant, afterwards only the date. */
export function deadline(view: View, refundCase: RefundCase): Html {
  const t = textsFor(view, refundsTexts);
  const at = refundCase.merchantReviewDeadlineAt;
  if (!at) return html`<span class="soft">${t.noDeadline}</span>`;
  if (refundCase.status !== RefundCaseStatus.MERCHANT_REVIEW) {
    return html`<span class="deadline">${moment(view, at)} <span class="soft">${t.closed}</span></span>`;
  }
  return html`<span class="deadline">${deadlineBadge(view, at, t)} ${moment(view, at)}</span>`;
}

/** The blockers as badges. */
export function blockers(view: View, { blockedBy }: RefundCase): Html {
  const t = textsFor(view, refundsTexts);
  if (blockedBy.length === 0) return html`<span class="soft">${t.noBlockers}</span>`;
  const badges = blockedBy.map((blocker) => badge('bad', t.blockerNames[blockerName(blocker)]));
  return html`<span class="held">${badges}</span>`;
}

/** The blockers with an explanation each. */
export function blockerList(view: View, { blockedBy }: RefundCase): Html {
  const t = textsFor(view, refundsTexts);
  if (blockedBy.length === 0) return html`<p>${t.noBlockers}</p>`;
  const item = (name: BlockerName) =>
    html`<li><strong>${t.blockerNames[name]}</strong> <code>${name}</code><br>${t.blockerTexts[name]}</li>`;
  return html`<ul class="blockers">${blockedBy.map((blocker) => item(blockerName(blocker)))}</ul>`;
}

const blockerName = (blocker: RefundBlocker) => RefundBlocker[blocker] as BlockerName;
