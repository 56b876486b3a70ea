import { form, hiddenFields, inputField } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { parseReais } from '../shell/reais-input.ts';
import { textsFor, type View } from '../shell/view.ts';
import { advancesTexts } from './advances.texts.ts';
import type { TypedBounds } from './quote-bounds.ts';

/** A quote to request, and the limits entered for it. */
export interface QuoteToRequest {
  readonly quoteId: string;
  readonly amountMinor: bigint;
  readonly typed: TypedBounds;
}

/** Whether the person must confirm the amount of a quote, because they have not entered as much. */
export const mustConfirm = (view: View, { typed, amountMinor }: QuoteToRequest): boolean =>
  (parseReais(view.language, typed.amount) ?? 0n) < amountMinor;

/** Whether an entered amount is that of the quote. */
export const isConfirmed = (view: View, amountMinor: bigint, confirmed: string): boolean =>
  parseReais(view.language, confirmed) === amountMinor;

/** The form that requests a quote. Asks for the amount if it was not entered before; `fault` when it was not the quote's. */
export function requestForm(view: View, quote: QuoteToRequest, entered = '', fault?: string): Html {
  const { quoteId, amountMinor, typed } = quote;
  const t = textsFor(view, advancesTexts).quote;
  const confirmation = mustConfirm(view, quote)
    ? inputField(
        { name: 'confirmed', label: t.confirm, hint: t.confirmHint(view.format.money(amountMinor)), fault },
        entered,
        html`inputmode="decimal" autocomplete="off" maxlength="40" required`,
      )
    : nothing;
  // For another quote with the same limits, if this one is no longer available.
  const hidden = hiddenFields({ quoteId, quoted: String(amountMinor), ...typed });
  return form(view, {
    action: '/advances/request',
    submit: t.request,
    fields: html`${hidden}${confirmation}`,
  });
}
