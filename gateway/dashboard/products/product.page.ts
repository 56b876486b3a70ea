import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import {
  type Offer,
  PaymentMethod,
  type Price,
  type Product,
  ProductStatus,
} from '../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { enumName } from '../../../services/platform/enum-name.ts';
import { salesTexts } from '../funds/sales.texts.ts';
import { breadcrumbs } from '../shell/breadcrumbs.ts';
import { amountColumn, copyable, dataTable, details, link, moment, NONE } from '../shell/components.ts';
import { type Html, html } from '../shell/html.ts';
import type { Pages } from '../shell/pages.ts';
import { textsFor, type View } from '../shell/view.ts';
import { chargeText, stateBadge, typeText } from './product.components.ts';
import { productsTexts } from './products.texts.ts';

/** A product with its current prices and offers, read-only. */
export function productPage(pages: Pages): void {
  const options = { path: '/products/:productId', role: Role.VIEWER, section: 'products' } as const;
  pages.page(options, async (view, { params }) => {
    const t = textsFor(view, productsTexts);
    const productId = params.productId!;
    const { product } = await view.clients.products.getProduct({ productId });
    return {
      title: product!.name.trim() || product!.id,
      body: html`${breadcrumbs(view, 'products')}${facts(view, product!)}
<h2>${t.prices}</h2>${priceTable(view, product!)}
<h2>${t.offers}</h2>${offerTable(view, product!)}`,
    };
  });
}

function facts(view: View, product: Product): Html {
  const t = textsFor(view, productsTexts);
  const { description, imageUrl, imageAssetId, archivedAt } = product;
  return details([
    [t.status, html`${stateBadge(view, product)} <code>${ProductStatus[product.status]}</code>`],
    [t.id, copyable(view, product.id)],
    [t.type, typeText(view, product)],
    [t.description, description && html`<span class="words">${description}</span>`],
    [t.sales, link(view, `/funds/sales?product=${product.id}`, t.toSales)],
    [t.window, t.days(view.format.number(product.refundWindowDays))],
    // As text: the content security policy blocks images from other hosts.
    [t.image, imageUrl && copyable(view, imageUrl)],
    [t.imageAsset, imageAssetId && copyable(view, imageAssetId)],
    [t.created, moment(view, product.createdAt)],
    [t.updated, moment(view, product.updatedAt)],
    [t.archived, archivedAt && moment(view, archivedAt)],
  ]);
}

function priceTable(view: View, { prices }: Product): Html {
  const t = textsFor(view, productsTexts);
  return dataTable<Price>(
    t.pricesHint,
    [
      amountColumn(view, t.amount, ({ amountMinor }) => amountMinor),
      { label: t.charge, cell: (price) => chargeText(view, price) },
      { label: t.trial, cell: ({ trialDays }) => (trialDays ? t.days(view.format.number(trialDays)) : NONE) },
      { label: t.installments, cell: ({ maxInstallments }) => t.upTo(maxInstallments) },
      { label: t.created, cell: ({ createdAt }) => moment(view, createdAt) },
      { label: 'Id', cell: ({ id }) => html`<code>${id}</code>` },
    ],
    prices,
    t.noPrices,
  );
}

function offerTable(view: View, { offers, prices }: Product): Html {
  const t = textsFor(view, productsTexts);
  const priceOf = ({ priceId }: Offer) => prices.find(({ id }) => id === priceId);
  const { methods } = textsFor(view, salesTexts);
  const method = (one: PaymentMethod) => methods[enumName(PaymentMethod, one)];
  return dataTable<Offer>(
    t.offersHint,
    [
      { label: t.offer, isFreeText: true, cell: ({ name }) => name },
      {
        label: t.price,
        cell: (offer) => {
          const price = priceOf(offer);
          return price ? view.format.money(price.amountMinor) : NONE;
        },
        isNumber: true,
      },
      { label: t.methods, cell: ({ paymentMethods }) => paymentMethods.map(method).join(', ') },
      { label: t.installments, cell: ({ maxInstallments }) => t.upTo(maxInstallments) },
      { label: t.starts, cell: ({ startsAt }) => moment(view, startsAt) },
      { label: t.ends, cell: ({ endsAt }) => (endsAt ? moment(view, endsAt) : t.noEnd) },
      { label: t.checkout, isFreeText: true, cell: ({ checkoutUrl }) => html`<code>${checkoutUrl}</code>` },
    ],
    offers,
    t.noOffers,
  );
}
