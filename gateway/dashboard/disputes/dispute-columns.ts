import type { Dispute } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { namedSaleOf, type SaleNames } from '../funds/sale-names.ts';
import { salesTexts } from '../funds/sales.texts.ts';
import { type Column, link, moment } from '../shell/components.ts';
import { textsFor, type View } from '../shell/view.ts';
import { disputedAmount, dueDate, reasonText, stateBadge } from './dispute.components.ts';
import { disputesTexts } from './disputes.texts.ts';

/** The columns of a table of disputes; `names` has their sales. */
export function disputeColumns(view: View, names: SaleNames): Column<Dispute>[] {
  const t = textsFor(view, disputesTexts);
  return [
    {
      label: t.reason,
      isFreeText: true,
      cell: (dispute) => link(view, `/disputes/${dispute.id}`, reasonText(view, dispute)),
    },
    {
      label: textsFor(view, salesTexts).sale,
      isFreeText: true,
      cell: ({ saleId }) => namedSaleOf(view, saleId, names),
    },
    { label: t.amount, isNumber: true, cell: (dispute) => disputedAmount(view, dispute) },
    { label: t.status, cell: (dispute) => stateBadge(view, dispute) },
    { label: t.dueDate, cell: (dispute) => dueDate(view, dispute) },
    { label: t.opened, cell: ({ openedAt }) => moment(view, openedAt) },
  ];
}
