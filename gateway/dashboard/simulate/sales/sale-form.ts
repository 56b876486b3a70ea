import type { Product } from '../../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { salesTexts } from '../../funds/sales.texts.ts';
import { field, form, select } from '../../shell/components.ts';
import { type Html, html } from '../../shell/html.ts';
import { typedReais } from '../../shell/reais-input.ts';
import { textsFor, type View } from '../../shell/view.ts';
import { amountField, type Draft, daysField, typedField } from '../typed-values.ts';
import { saleTexts } from './sale.texts.ts';

export const METHODS = ['INSTANT_TRANSFER', 'CARD'] as const;
/** More than a year, so that all installments of most sales can be due. */
export const MAX_DAYS_AGO = 400;

export function saleForm(view: View, products: readonly Product[], draft?: Draft): Html {
  const t = textsFor(view, saleTexts);
  const words = textsFor(view, salesTexts);
  const methods = METHODS.map((name) => [name, words.methods[name]] as const);
  const { soldDaysAgo: label, soldDaysAgoHint: hint } = t;
  const fields = html`${field({ name: 'method', label: words.method }, select(methods, draft?.values.method))}
${amountField(draft, { name: 'gross', label: t.gross, initial: typedReais(view.format, 12_000n) })}
${amountField(draft, { name: 'fees', label: t.fees, initial: typedReais(view.format, 0n) })}
${typedField(draft, { name: 'installments', label: t.installments, hint: t.installmentsHint, initial: '1' }, html`type="number" min="1" max="99"`)}
${daysField(draft, { name: 'sold_days_ago', label, hint, initial: '0' }, MAX_DAYS_AGO)}
${productField(view, 'sale_product', products, draft?.values.sale_product)}
${typedField(draft, { name: 'order_number', label: words.orderNumber, hint: t.referenceHint, initial: '' }, html`maxlength="100"`)}
${typedField(draft, { name: 'customer', label: words.customer, initial: '' }, html`maxlength="255"`)}`;
  return html`<section class="card"><h2>${t.sale}</h2><p class="hint">${t.saleHint}</p>
${form(view, { action: '/simulate/sales', submit: t.record, fields })}</section>`;
}

/** A drop-down of the merchant's products, with none as an option. */
export function productField(
  view: View,
  name: string,
  products: readonly Product[],
  chosen: string | undefined,
): Html {
  const t = textsFor(view, saleTexts);
  const options = products.map((product) => [product.id, product.name] as const);
  return field(
    { name, label: textsFor(view, salesTexts).product, hint: t.productHint },
    select([['', t.noProduct], ...options], chosen),
  );
}
