import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Type } from 'typebox';
import {
  type AdvanceQuote,
  AdvanceService,
  type GetAdvanceQuoteResponse,
} from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { details, link, moment, notice } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import type { Pages } from '../shell/pages.ts';
import { parseReais } from '../shell/reais-input.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { advancesTexts } from './advances.texts.ts';
import { requestForm } from './confirm-amount.ts';
import { coveredTable } from './covered-table.ts';
import { effectiveCost } from './effective-cost.ts';
import { boundParameters, newQuotePath, type TypedBounds } from './quote-bounds.ts';
import { percentOf } from './quote-form.ts';

/** The path of a quote's page, with the limits that were entered for it. */
export const quotePath = (quoteId: string, typed: TypedBounds): string =>
  `/advances/quotes/${quoteId}?${new URLSearchParams({ ...typed })}`;

/** /advances/quotes/<id>: a quote, and the form to request the advance as long as it can be requested. */
export function quotePage(pages: Pages): void {
  const options = {
    path: '/advances/quotes/:quoteId',
    rpc: AdvanceService.method.quoteAdvance,
    section: 'advances',
    query: Type.Object(boundParameters),
  } as const;
  pages.page(options, async (view, { params, query: { amount = '', until = '' } }) => {
    const typed = { amount, until };
    const found = await view.clients.advances.getAdvanceQuote({ quoteId: params.quoteId! });
    const quote = found.quote!;
    const t = textsFor(view, advancesTexts).quote;
    const ended = whyNotRequestable(view, found);
    return {
      title: t.title,
      body: html`${ended ? notice('off', ended) : lessNotice(view, quote, typed)}
<div class="card quote">${figures(view, found)}
${ended ? nothing : html`<p>${t.requestText}</p>${requestForm(view, { quoteId: quote.id, amountMinor: quote.amountMinor, typed })}`}
<p><a${ended ? html` class="button"` : nothing} href="${pathTo(view, newQuotePath(typed))}">${t.other}</a></p></div>
<h2>${t.releases}</h2>
${coveredTable(view, quote.installments)}`,
    };
  });
}

/** Why a quote can no longer be requested; undefined if it can. */
function whyNotRequestable(
  view: View,
  { quote, advanceRequestId, stale }: GetAdvanceQuoteResponse,
): Html | undefined {
  const t = textsFor(view, advancesTexts).quote;
  if (advanceRequestId !== undefined) {
    return html`${t.requested} ${link(view, `/advances/${advanceRequestId}`, t.toRequest)}`;
  }
  if (stale) return html`${t.stale}`;
  return timestampMs(quote!.expiresAt!) <= Date.now() ? html`${t.expired}` : undefined;
}

/** Says that a quote covers less than the amount that was entered. */
function lessNotice(view: View, { amountMinor }: AdvanceQuote, { amount }: TypedBounds): Html {
  const asked = parseReais(view.language, amount);
  if (asked === undefined || asked <= amountMinor) return nothing;
  const t = textsFor(view, advancesTexts).quote;
  return notice('off', t.less(view.format.money(asked), view.format.money(amountMinor)));
}

function figures(view: View, { quote, advanceRequestId }: GetAdvanceQuoteResponse): Html {
  const texts = textsFor(view, advancesTexts);
  const t = texts.quote;
  const money = (amountMinor: bigint) => view.format.money(amountMinor);
  const { amountMinor, feeAmountMinor, netAmountMinor, monthlyRateBps, expiresAt } = quote!;
  const cost = effectiveCost(quote!);
  return html`<p class="soft">${texts.net}</p><p class="figure">${money(netAmountMinor)}</p>
${details([
  [texts.amount, money(amountMinor)],
  [texts.fee, money(feeAmountMinor)],
  [t.rate, texts.form.rateText(percentOf(view, monthlyRateBps))],
  [
    t.effectiveCost,
    html`${t.effectiveCostText(view.format.percent(cost.monthly), view.format.percent(cost.yearly))} <span class="soft">${t.effectiveCostHint}</span>`,
  ],
  [
    t.validUntil,
    advanceRequestId === undefined
      ? html`${moment(view, expiresAt)} <span class="soft">${view.format.relative(expiresAt!)}</span>`
      : undefined,
  ],
])}`;
}
