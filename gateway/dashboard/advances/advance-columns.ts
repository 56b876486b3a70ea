import type { AdvanceRequest } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { amountColumn, type Column, link, moment } from '../shell/components.ts';
import { textsFor, type View } from '../shell/view.ts';
import { statusBadge } from './advance-status.ts';
import { advancesTexts } from './advances.texts.ts';

export function advanceColumns(view: View): Column<AdvanceRequest>[] {
  const t = textsFor(view, advancesTexts);
  return [
    {
      label: t.requestedAt,
      cell: ({ id, requestedAt }) => link(view, `/advances/${id}`, moment(view, requestedAt)),
    },
    amountColumn(view, t.amount, (request) => request.amountMinor),
    amountColumn(view, t.fee, (request) => request.feeAmountMinor),
    amountColumn(view, t.netAmount, (request) => request.netAmountMinor),
    { label: t.status, cell: (request) => statusBadge(view, request) },
  ];
}
