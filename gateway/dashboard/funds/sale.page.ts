import { Type } from 'typebox';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Sale, SaleInstallment } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { unlessRefused } from '../../../services/platform/rpc/connect-errors.ts';
import type { Disputes } from '../disputes/find-disputes.ts';
import { breadcrumbs } from '../shell/breadcrumbs.ts';
import {
  amountColumn,
  copyable,
  dataTable,
  details,
  link,
  moment,
  money,
  pageParameter,
  pager,
} from '../shell/components.ts';
import { type Html, html } from '../shell/html.ts';
import type { Pages } from '../shell/pages.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { amountsOf } from './amounts.ts';
import { disputesOfSale, disputesOfSaleTable } from './disputes-of-sale.ts';
import { fundsTexts } from './funds.texts.ts';
import { blockText, holderPath, movementTable } from './movement.components.ts';
import { refundsOfSale } from './refunds-of-sale.ts';
import { amountCards, releaseStatus } from './release.components.ts';
import { installmentText, methodText, saleBadge } from './sale.components.ts';
import { salesTexts } from './sales.texts.ts';

const MOVEMENTS = 50;

/** A sale: what was sold, what has become of its funds, its installments, movements, refunds and disputes. */
export function salePage(pages: Pages): void {
  const query = Type.Object({ page: pageParameter });
  const options = { path: '/funds/sales/:saleId', role: Role.VIEWER, section: 'funds', query } as const;
  pages.page(options, async (view, { params, query: { page = '' } }) => {
    const t = textsFor(view, salesTexts);
    const read = await view.clients.funds.getSale({ saleId: params.saleId! });
    const sale = read.sale!;
    const movementPage = { saleId: sale.id, pageSize: MOVEMENTS, pageToken: page };
    const [{ movements, nextPageToken }, disputes, refunds, product] = await Promise.all([
      view.clients.funds.listSaleMovements(movementPage),
      disputesOfSale(view, sale.id),
      refundsOfSale(view, sale.id),
      productName(view, sale),
    ]);
    return {
      title: t.saleOf(view.format.dateTime(sale.capturedAt)),
      body: html`${breadcrumbs(view, 'funds', ['/funds/sales', t.title])}
${amountCards(view, amountsOf(sale))}
${facts(view, sale, product)}
<h2>${t.installments}</h2>${installmentTable(view, sale, read.installments, disputes)}
<h2>${t.movements}</h2><p class="hint">${t.movementsHint}</p>
${movementTable(view, movements, disputes, { ofSale: true })}
${pager(view, nextPageToken)}
${refunds}
${disputesOfSaleTable(view, disputes)}`,
    };
  });
}

/** The name of the sale's product; undefined when the catalog does not have it. */
async function productName(view: View, { productId }: Sale): Promise<string | undefined> {
  if (productId === undefined) return undefined;
  const reading = view.clients.products.getProduct({ productId });
  const read = await unlessRefused(reading, { PRODUCT_NOT_FOUND: undefined });
  return read && (read.product!.name.trim() || productId);
}

function facts(view: View, sale: Sale, product: string | undefined): Html {
  const t = textsFor(view, salesTexts);
  const { amounts } = textsFor(view, fundsTexts);
  const { orderId, orderNumber, productId, customerReference } = sale;
  const productCell = product
    ? link(view, `/products/${productId!}`, product)
    : productId && copyable(view, productId);
  return details([
    [t.status, saleBadge(view, sale)],
    [t.id, copyable(view, sale.id)],
    [t.captured, moment(view, sale.capturedAt)],
    [t.method, methodText(view, sale)],
    [amounts.gross, money(view, sale.grossAmountMinor)],
    [amounts.fees, money(view, sale.feesAmountMinor)],
    [amounts.net, money(view, sale.originalAmountMinor)],
    [t.orderNumber, orderNumber],
    [t.orderId, orderId && copyable(view, orderId)],
    [t.product, productCell],
    [t.customer, customerReference && salesOfCustomer(view, customerReference)],
  ]);
}

/** The customer's reference, with a link to all their sales. */
function salesOfCustomer(view: View, reference: string): Html {
  return link(view, `/funds/sales?${new URLSearchParams({ customer: reference })}`, reference);
}

function installmentTable(
  view: View,
  sale: Sale,
  installments: readonly SaleInstallment[],
  disputes: Disputes,
): Html {
  const t = textsFor(view, salesTexts);
  const { amounts } = textsFor(view, fundsTexts);
  const remaining = (each: SaleInstallment) =>
    each.originalAmountMinor - each.deductionsAmountMinor - each.advancedAmountMinor;
  return dataTable<SaleInstallment>(
    t.installmentsHint,
    [
      { label: t.installment, cell: ({ number }) => installmentText(view, sale, number) },
      {
        label: t.date,
        cell: ({ date }) =>
          html`<a href="${pathTo(view, `/funds/days/${date}`)}"><time datetime="${date}">${view.format.date(date)}</time></a>`,
      },
      { label: t.status, cell: (each) => installmentStatus(view, each, disputes) },
      amountColumn(view, amounts.gross, ({ grossAmountMinor }) => grossAmountMinor),
      amountColumn(view, amounts.fees, ({ feesAmountMinor }) => feesAmountMinor),
      amountColumn(view, amounts.deducted, ({ deductionsAmountMinor }) => deductionsAmountMinor),
      { label: amounts.advanced, isNumber: true, cell: (each) => advancedAmount(view, each) },
      amountColumn(view, amounts.remaining, remaining),
    ],
    installments,
    t.noInstallments,
  );
}

/** What was advanced of an installment, with a link to each advance: what is restored later may be advanced again. */
function advancedAmount(view: View, { advancedAmountMinor, advanceRequestIds }: SaleInstallment): Html {
  const { advance } = textsFor(view, salesTexts);
  const links = advanceRequestIds.map(
    (id) => html` <span class="reasons">${link(view, `/advances/${id}`, advance)}</span>`,
  );
  return html`${money(view, advancedAmountMinor)}${links}`;
}

function installmentStatus(view: View, { status, blocks }: SaleInstallment, disputes: Disputes): Html {
  const holders = blocks.map(({ reason, sourceId }) => {
    const name = blockText(view, reason, sourceId, disputes);
    const path = holderPath(reason, sourceId, disputes);
    return html` <span class="reasons">${path ? link(view, path, name) : name}</span>`;
  });
  return html`${releaseStatus(view, status)}${holders}`;
}
