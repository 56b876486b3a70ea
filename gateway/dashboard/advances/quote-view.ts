import type { AdvanceQuote } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { details, moment, notice } from '../shell/components.ts';
import { html, nothing } from '../shell/html.ts';
import { type Page, pathTo, textsFor, type View } from '../shell/view.ts';
import { advancesTexts } from './advances.texts.ts';
import { requestForm } from './confirm-amount.ts';
import { coveredTable } from './covered-table.ts';
import { effectiveCost } from './effective-cost.ts';
import type { TypedBounds } from './quote-bounds.ts';
import { percentOf } from './quote-form.ts';

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
