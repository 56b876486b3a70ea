import type { Product } from '../../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { field, form, hiddenFields, select } from '../../shell/components.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import { typedReais } from '../../shell/reais-input.ts';
import { textsFor, type View } from '../../shell/view.ts';
import { productField } from '../sales/sale-form.ts';
import { simulateTexts } from '../simulate.texts.ts';
import { amountField, type Draft, daysField } from '../typed-values.ts';

export const BEGINNINGS = ['CUSTOMER', 'MERCHANT', 'INSTANT'] as const;
/** Within the longest refund window. */
export const MOST_DAYS_AGO = 60;

/** The sale whose payment is to be refunded, as far as it is known. */
export interface SoldSale {
  readonly saleId: string;
  readonly paidAmountMinor: bigint | undefined;
  /** ISO 8601; empty when nobody knows. */
  readonly paidAt: string;
  readonly productId: string | undefined;
}

/** The form that opens a refund case: of a sale, or of a made-up payment. */
export function refundForm(
  view: View,
  products: readonly Product[],
  { sale, draft }: { readonly sale?: SoldSale; readonly draft?: Draft | undefined } = {},
): Html {
  const t = textsFor(view, simulateTexts);
  const beginnings = BEGINNINGS.map((name) => [name, t.whoOptions[name]] as const);
  const paid = typedReais(view.format, sale?.paidAmountMinor ?? 12_000n);
  const values = draft?.values;
  const productId = values?.refund_product ?? sale?.productId;
  const fields = html`${sale ? hiddenFields({ sale_id: sale.saleId, paid_at: sale.paidAt }) : nothing}
${amountField(draft, { name: 'amount', label: t.amount, initial: paid })}
${amountField(draft, { name: 'paid', label: t.paid, initial: paid })}
${field({ name: 'who', label: t.who }, select(beginnings, values?.who ?? ''))}
${field({ name: 'reason', label: t.reason, fault: draft?.faults.reason }, (attributes) => {
  return html`<textarea ${attributes} rows="2">${values?.reason ?? t.reasonInitial}</textarea>`;
})}
${daysField(draft, { name: 'asked_days_ago', label: t.askedDaysAgo, hint: t.askedDaysAgoHint, initial: '0' }, MOST_DAYS_AGO)}
${productField(view, 'refund_product', products, productId)}`;
  return html`<section class="card"><h2>${sale ? t.saleRefund : t.refund}</h2>
${sale ? nothing : html`<p class="hint">${t.refundHint}</p>`}
${form(view, { action: '/simulate/refund-cases', submit: t.open, fields })}</section>`;
}
