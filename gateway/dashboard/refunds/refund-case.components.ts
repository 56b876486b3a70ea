import {
  RefundBlocker,
  type RefundCase,
  RefundCaseStatus,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { type EnumName, enumName } from '../../../services/platform/enum-name.ts';
import {
  amountColumn,
  badge,
  type Column,
  deadlineBadge,
  link,
  moment,
  type Tone,
} from '../shell/components.ts';
import { type Html, html } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import { refundsTexts } from './refunds.texts.ts';

export type StateName = EnumName<typeof RefundCaseStatus>;

type BlockerName = EnumName<typeof RefundBlocker>;

const TONES: Readonly<Record<StateName, Tone>> = {
  MERCHANT_REVIEW: 'busy',
  SERVICE_REVIEW: 'busy',
  APPROVED_FOR_EXECUTION: 'busy',
  FUNDING_REQUIRED: 'bad',
  PROCESSING: 'busy',
  SUCCEEDED: 'good',
  FAILED: 'bad',
  CANCELED: 'off',
  REJECTED: 'off',
};

/** The statuses of a case, in the usual order. */
export const STATES = Object.keys(TONES) as StateName[];

export const stateOf = ({ status }: Pick<RefundCase, 'status'>) => enumName(RefundCaseStatus, status);

export function stateBadge(view: View, refundCase: Pick<RefundCase, 'status'>): Html {
  const state = stateOf(refundCase);
  return badge(TONES[state], textsFor(view, refundsTexts).states[state]);
}

/** The columns of a table of cases. The id links to the case's page below `path`. */
export function caseColumns(view: View, path = '/refunds') {
  const t = textsFor(view, refundsTexts);
  return {
    id: column(t.case, ({ id }) => link(view, `${path}/${id}`, html`<code>${id}</code>`)),
    amount: amountColumn<RefundCase>(view, t.amount, ({ amountMinor }) => amountMinor),
    status: column(t.status, (refundCase) => stateBadge(view, refundCase)),
    requested: column(t.requested, ({ requestedAt }) => moment(view, requestedAt)),
  };
}

const column = (label: string, cell: (refundCase: RefundCase) => Html): Column<RefundCase> => ({
  label,
  cell,
});

/** The decision deadline: the time left while the case awaits the merchant, afterwards only the date. */
export function deadline(view: View, refundCase: RefundCase): Html {
  const t = textsFor(view, refundsTexts);
  const at = refundCase.merchantReviewDeadlineAt;
  if (!at) return html`<span class="soft">${t.noDeadline}</span>`;
  if (refundCase.status !== RefundCaseStatus.MERCHANT_REVIEW) {
    return html`<span class="deadline">${moment(view, at)} <span class="soft">${t.closed}</span></span>`;
  }
  return html`<span class="deadline">${deadlineBadge(view, at)} ${moment(view, at)}</span>`;
}

export function blockers(view: View, { blockedBy }: RefundCase): Html {
  const t = textsFor(view, refundsTexts);
  if (blockedBy.length === 0) return html`<span class="soft">${t.noBlockers}</span>`;
  const badges = blockedBy.map((blocker) => badge('bad', t.blockerNames[blockerName(blocker)]));
  return html`<span class="held">${badges}</span>`;
}

export function blockerList(view: View, { blockedBy }: RefundCase): Html {
  const t = textsFor(view, refundsTexts);
  if (blockedBy.length === 0) return html`<p>${t.noBlockers}</p>`;
  const item = (name: BlockerName) =>
    html`<li><strong>${t.blockerNames[name]}</strong> <code>${name}</code><br>${t.blockerTexts[name]}</li>`;
  return html`<ul class="blockers">${blockedBy.map((blocker) => item(blockerName(blocker)))}</ul>`;
}

const blockerName = (blocker: RefundBlocker) => enumName(RefundBlocker, blocker);
