import { MAX_PAGE_SIZE } from '../merchant-clients.ts';
import { paymentsOfSale, readPayment } from '../refunds/payment-amounts.ts';
import { caseColumns } from '../refunds/refund-case.components.ts';
import { refundsTexts } from '../refunds/refunds.texts.ts';
import { dataTable } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import { salesTexts } from './sales.texts.ts';

/** The payments of a sale that are shown; it usually has one. */
const MAX_PAYMENTS = 5;

/** The refund cases of a sale, newest first, and what can still be refunded of its payment; nothing when it has none. */
export async function refundsOfSale(view: View, saleId: string): Promise<Html> {
  const request = { saleIds: [saleId], pageSize: MAX_PAGE_SIZE };
  const { refundCases } = await view.clients.refundCases.listRefundCases(request);
  if (refundCases.length === 0) return nothing;
  const paymentIds = [...new Set(refundCases.map(({ paymentIntentId }) => paymentIntentId))];
  const payments = await Promise.all(paymentIds.slice(0, MAX_PAYMENTS).map((id) => readPayment(view, id)));
  const caption = textsFor(view, refundsTexts).newestHint;
  const table = dataTable(caption, Object.values(caseColumns(view)), refundCases, '');
  return html`<h2>${textsFor(view, salesTexts).refunds}</h2>${table}${paymentsOfSale(view, payments)}`;
}
