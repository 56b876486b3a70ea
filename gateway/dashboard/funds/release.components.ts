import {
  BlockReason,
  type FundsRelease,
  FundsReleaseStatus,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { enumName } from '../../../services/platform/enum-name.ts';
import { amountCard, amountColumn, badge } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import { type Amounts, presentKinds } from './amounts.ts';
import { fundsTexts } from './funds.texts.ts';

/** A card for each kind of amount that is not zero. */
export function amountCards(view: View, amounts: Amounts): Html {
  const t = textsFor(view, fundsTexts);
  return html`<div class="cards">${presentKinds(amounts).map((kind) =>
    amountCard(view, t.kinds[kind], amounts[kind]),
  )}</div>`;
}

/** The status of a release, or of an installment, with what blocks it. */
export function releaseStatus(
  view: View,
  status: FundsReleaseStatus,
  blockedReasons: readonly BlockReason[] = [],
): Html {
  const t = textsFor(view, fundsTexts);
  const reasons = blockedReasons.map((reason) => t.reasons[enumName(BlockReason, reason)]);
  switch (status) {
    case FundsReleaseStatus.RELEASED:
      return badge('good', t.kinds.released);
    case FundsReleaseStatus.SCHEDULED:
      return badge('busy', t.kinds.scheduled);
    case FundsReleaseStatus.BLOCKED:
      return html`${badge('bad', t.kinds.blocked)}${
        reasons.length > 0 ? html` <span class="reasons">${reasons.join(', ')}</span>` : nothing
      }`;
    case FundsReleaseStatus.UNSPECIFIED:
      return nothing;
    default:
      return status satisfies never;
  }
}

/** What remains after deductions and advances, in any status. */
export function remainingMinor(
  row: Pick<FundsRelease, 'blockedAmountMinor' | 'releasedAmountMinor' | 'scheduledAmountMinor'>,
): bigint {
  return row.blockedAmountMinor + row.releasedAmountMinor + row.scheduledAmountMinor;
}

/** The amounts of a release, or of a sale in it, and what blocks them. */
export type Allocation = Omit<FundsRelease, '$typeName' | 'date' | 'status' | 'salesCount'>;

/** The columns from gross to what remains, of releases or of the sales behind them. */
export function allocationColumns<Row extends Allocation>(view: View) {
  const t = textsFor(view, fundsTexts).amounts;
  return [
    amountColumn<Row>(view, t.gross, (row) => row.grossAllocatedAmountMinor),
    amountColumn<Row>(view, t.fees, (row) => row.feesAllocatedAmountMinor),
    amountColumn<Row>(view, t.net, (row) => row.originalAmountMinor),
    amountColumn<Row>(view, t.deducted, (row) => row.deductionsAmountMinor),
    amountColumn<Row>(view, t.advanced, (row) => row.advancedAmountMinor),
    amountColumn<Row>(view, t.remaining, remainingMinor),
  ];
}
