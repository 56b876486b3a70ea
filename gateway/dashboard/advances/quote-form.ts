import type { GetAdvanceRateResponse } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import type { ListAdvanceableInstallmentsResponse } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { advanceFeeMinor } from '../../../services/contracts/advances/advance-fee.ts';
import { daysBetween } from '../../../services/platform/civil-date.ts';
import { details, form, inputField, notice } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { type Page, type PlainView, pathTo, textsFor, type View } from '../shell/view.ts';
import { advancesTexts } from './advances.texts.ts';
import { type BoundFaults, exampleAmount, type TypedBounds } from './quote-bounds.ts';

/** The most installments that the service returns. */
const MAX_INSTALLMENTS = 1_000;

/** Formats basis points as a percentage, without the sign. */
export function percentOf({ format }: PlainView, basisPoints: number): string {
  return format.number(basisPoints / 100);
}

interface Shown {
  readonly typed: TypedBounds;
  readonly faults?: BoundFaults;
  /** Why the previous quote could not be requested. */
  readonly refusal?: string | undefined;
}

/** The form for a quote, with the advanceable amount and the rate. */
export async function quoteFormPage(view: View, shown: Shown): Promise<Page> {
  const t = textsFor(view, advancesTexts).form;
  const [advanceable, rate] = await Promise.all([
    view.clients.funds.listAdvanceableInstallments({}),
    view.clients.advances.getAdvanceRate({}),
  ]);
  const isPossible = advanceable.installments.length > 0;
  return {
    title: t.title,
    ...(shown.faults && { status: 422 }),
    body: html`${shown.refusal ? notice('bad', shown.refusal) : nothing}
${
  isPossible
    ? html`${summary(view, advanceable, rate)}<p class="hint">${t.which}</p>${boundsForm(view, shown)}<p class="hint">${t.explain}${leavesOut(advanceable, rate) ? ` ${t.leftOut}` : ''}</p>`
    : html`<div class="empty"><p>${t.nothing}</p><p>${t.which}</p><p><a href="${pathTo(view, '/funds')}">${t.toCalendar}</a></p></div>`
}`,
  };
}

/** Whether the fee of the last installment would consume it, so that no quote covers it. */
function leavesOut(
  { installments, today }: ListAdvanceableInstallmentsResponse,
  { rate }: GetAdvanceRateResponse,
): boolean {
  const { amountMinor, date } = installments.at(-1)!;
  return advanceFeeMinor(amountMinor, rate!.monthlyRateBps, daysBetween(today, date)) >= amountMinor;
}

function summary(
  view: View,
  { installments }: ListAdvanceableInstallmentsResponse,
  { rate }: GetAdvanceRateResponse,
): Html {
  const t = textsFor(view, advancesTexts).form;
  const sum = installments.reduce((total, { amountMinor }) => total + amountMinor, 0n);
  const dates = [installments[0]!.date, installments.at(-1)!.date].map((date) => view.format.date(date));
  const count = view.format.number(installments.length);
  return details([
    [
      installments.length < MAX_INSTALLMENTS ? t.available : t.availableAtLeast,
      html`<strong>${view.format.money(sum)}</strong> <span class="soft">${t.span(count, dates[0]!, dates[1]!)}</span>`,
    ],
    [t.rate, t.rateText(percentOf(view, rate!.monthlyRateBps))],
  ]);
}

function boundsForm(view: View, { typed, faults }: Shown): Html {
  const t = textsFor(view, advancesTexts).form;
  const amountHint = t.amountHint(exampleAmount(view));
  return form(view, {
    action: '/advances/new',
    submit: t.quote,
    fields: html`${inputField(
      { name: 'amount', label: t.amount, hint: amountHint, fault: faults?.amount },
      typed.amount,
      html`inputmode="decimal" autocomplete="off" maxlength="40"`,
    )}
${inputField({ name: 'until', label: t.until, hint: t.untilHint, fault: faults?.until }, typed.until, html`type="date"`)}`,
  });
}
