import type { Product } from '../../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { field, form, hiddenFields, select } from '../../shell/components.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import { typedReais } from '../../shell/reais-input.ts';
import { textsFor, type View } from '../../shell/view.ts';
import { productField } from '../sales/sale-form.ts';
import { simulateTexts } from '../simulate.texts.ts';
import { amountField, type Draft, daysField } from '../typed-values.ts';
import { refundFormTexts } from './refund-form.texts.ts';

export const REQUESTERS = ['CUSTOMER', 'MERCHANT', 'INSTANT'] as const;
/** Within the longest refund window. */
export const MAX_DAYS_AGO = 60;

/** The sale whose payment is to be refunded, as far as known. */
export interface SoldSale {
  readonly saleId: string;
  readonly paidAmountMinor: bigint | undefined;
  /** ISO 8601; empty when unknown. */
  readonly paidAt: string;
  readonly productId: string | undefined;
}

/** The form that opens a refund case, for a sale or a made-up payment. */
export function refundForm(
  view: View,
  products: readonly Product[],
  { sale, draft }: { readonly sale?: SoldSale; readonly draft?: Draft | undefined } = {},
): Html {
  const t = textsFor(view, refundFormTexts);
  const requesters = REQUESTERS.map((name) => [name, t.whoOptions[name]] as const);
  const paid = typedReais(view.format, sale?.paidAmountMinor ?? 12_000n);
  const values = draft?.values;
  const productId = values?.refund_product ?? sale?.productId;
  const fields = html`${sale ? hiddenFields({ sale_id: sale.saleId, paid_at: sale.paidAt }) : nothing}
${amountField(draft, { name: 'amount', label: t.amount, initial: paid })}
${amountField(draft, { name: 'paid', label: t.paid, initial: paid })}
${field({ name: 'who', label: t.who }, select(requesters, values?.who))}
${field(
  { name: 'reason', label: textsFor(view, simulateTexts).reason, fault: draft?.faults.reason },
  (attributes) => {
    return html`<textarea ${attributes} rows="2">${values?.reason ?? t.reasonInitial}</textarea>`;
  },
)}
${daysField(draft, { name: 'asked_days_ago', label: t.requestedDaysAgo, hint: t.requestedDaysAgoHint, initial: '0' }, MAX_DAYS_AGO)}
${productField(view, 'refund_product', products, productId)}`;
  return html`<section class="card"><h2>${sale ? t.titleOfSale : t.title}</h2>
${sale ? nothing : html`<p class="hint">${t.hint}</p>`}
${form(view, { action: '/simulate/refund-cases', submit: t.open, fields })}</section>`;
}
