import type { AdvanceQuote, QuoteInstallment } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { amountColumn, dataTable, details, moment, notice } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { type Page, pathTo, textsFor, type View } from '../shell/view.ts';
import { advancesTexts } from './advances.texts.ts';
import { requestForm } from './confirm-amount.ts';
import { effectiveCost } from './effective-cost.ts';
import type { TypedBounds } from './quote-bounds.ts';
import { percentOf } from './quote-form.ts';

/** A quote may cover a thousand installments; the furthest dates share a row. */
const MAX_DATES = 31;

interface DateRow {
  readonly date: string;
  readonly days: string;
  readonly amountMinor: bigint;
  readonly feeMinor: bigint;
}

/** The page of a quote: net amount, cost, covered installments, and the form to request the advance. */
export function quotePage(
  view: View,
  quote: AdvanceQuote,
  { typed, maxAmountMinor }: { typed: TypedBounds; maxAmountMinor: bigint | undefined },
): Page {
  const texts = textsFor(view, advancesTexts);
  const t = texts.quote;
  const money = (amountMinor: bigint) => view.format.money(amountMinor);
  const { amountMinor, feeAmountMinor, netAmountMinor, expiresAt } = quote;
  const isLess = maxAmountMinor !== undefined && amountMinor < maxAmountMinor;
  const again = new URLSearchParams({ ...typed });
  const cost = effectiveCost(quote);
  return {
    title: t.title,
    body: html`${isLess ? notice('off', t.less(money(maxAmountMinor), money(amountMinor))) : nothing}
<div class="card quote"><p class="soft">${texts.net}</p><p class="figure">${money(netAmountMinor)}</p>
${details([
  [texts.amount, money(amountMinor)],
  [texts.fee, money(feeAmountMinor)],
  [t.rate, texts.form.rateText(percentOf(view, quote.monthlyRateBps))],
  [
    t.effectiveCost,
    html`${t.effectiveCostText(view.format.percent(cost.monthly), view.format.percent(cost.yearly))} <span class="soft">${t.effectiveCostHint}</span>`,
  ],
  [
    t.validUntil,
    html`${moment(view, expiresAt)} <span class="soft">${expiresAt ? view.format.relative(expiresAt) : ''}</span>`,
  ],
])}
<p>${t.requestText}</p>
${requestForm(view, { quoteId: quote.id, amountMinor, typed })}
<p><a href="${pathTo(view, `/advances/new?${again}`)}">${t.other}</a></p></div>
<h2>${t.releases}</h2>
${coveredTable(view, quote.installments)}`,
  };
}

function coveredTable(view: View, installments: readonly QuoteInstallment[]): Html {
  const texts = textsFor(view, advancesTexts);
  const t = texts.quote;
  const dates = [...Map.groupBy(installments, ({ date }) => date)];
  const rows: DateRow[] = dates.slice(0, MAX_DATES).map(([date, due]) => ({
    date: view.format.date(date),
    days: t.daysText(view.format.number(due[0]!.days)),
    ...sumsOf(due),
  }));
  const others = dates.slice(MAX_DATES);
  if (others.length > 0) {
    const date = t.others(view.format.number(others.length));
    rows.push({ date, days: '', ...sumsOf(others.flatMap(([, due]) => due)) });
  }
  return dataTable<DateRow>(
    t.table,
    [
      { label: t.date, cell: ({ date }) => date },
      { label: t.days, isNumber: true, cell: ({ days }) => days },
      amountColumn(view, texts.amount, ({ amountMinor }) => amountMinor),
      amountColumn(view, texts.fee, ({ feeMinor }) => feeMinor),
    ],
    rows,
    '',
  );
}

function sumsOf(installments: readonly QuoteInstallment[]) {
  return {
    amountMinor: installments.reduce((sum, installment) => sum + installment.amountMinor, 0n),
    feeMinor: installments.reduce((sum, installment) => sum + installment.feeAmountMinor, 0n),
  };
}
