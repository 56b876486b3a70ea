import { Type } from 'typebox';
import { AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { Failure, reasonOf } from '../shell/failures.ts';
import { html } from '../shell/html.ts';
import type { Pages } from '../shell/pages.ts';
import { ID, type Outcome } from '../shell/pages.ts';
import { type Page, pathTo, textsFor, type View } from '../shell/view.ts';
import { advancesTexts } from './advances.texts.ts';
import { isConfirmed, mustConfirm, type QuoteToRequest, requestForm } from './confirm-amount.ts';
import { boundParameters, newQuotePath } from './quote-bounds.ts';

const form = Type.Object({
  quoteId: Type.String({ pattern: ID.source }),
  /** The amount of the quote, in centavos. */
  quoted: Type.String({ pattern: '^[0-9]{1,16}$' }),
  /** The same, entered by the person. */
  confirmed: Type.Optional(Type.String({ maxLength: 40 })),
  ...boundParameters,
});

/** Requests the quoted advance. If the quote is no longer available, redirects to the form with its limits and the reason. */
export function requestAdvanceAction(pages: Pages): void {
  const rpc = AdvanceService.method.requestAdvance;
  const options = { path: '/advances/request', rpc, section: 'advances', form } as const;
  pages.action(options, async (view, { form, key }) => {
    const { quoteId, quoted, confirmed = '', amount = '', until = '' } = form;
    const quote = { quoteId, amountMinor: BigInt(quoted), typed: { amount, until } };
    if (mustConfirm(view, quote) && !isConfirmed(view, quote.amountMinor, confirmed)) {
      return confirmPage(view, quote, confirmed);
    }
    try {
      const { advanceRequest } = await view.clients.advances.requestAdvance({ idempotencyKey: key, quoteId });
      return { redirect: `/advances/${advanceRequest!.id}`, notice: 'requested' };
    } catch (error) {
      return refusedOutcome(view, quoteId, error, { amount, until });
    }
  });
}

/** Asks again for the amount that was to be entered. */
function confirmPage(view: View, quote: QuoteToRequest, confirmed: string): Page {
  const t = textsFor(view, advancesTexts).quote;
  const fault = t.confirmFault(view.format.money(quote.amountMinor));
  const again = pathTo(view, newQuotePath(quote.typed));
  const body = html`${requestForm(view, quote, confirmed, fault)}<p><a href="${again}">${t.other}</a></p>`;
  return { title: t.confirmTitle, status: 422, body };
}

async function refusedOutcome(
  view: View,
  quoteId: string,
  error: unknown,
  typed: Record<string, string>,
): Promise<Outcome> {
  const reason = reasonOf(error) ?? '';
  if (reason === 'QUOTE_ALREADY_REQUESTED') {
    const { advanceRequestId } = await view.clients.advances.getAdvanceQuote({ quoteId });
    // The other call has claimed the quote and not made the request yet.
    if (advanceRequestId === undefined) throw Failure.of(409, 'inUse', error);
    return { redirect: `/advances/${advanceRequestId}`, notice: 'already' };
  }
  if (!Object.hasOwn(advancesTexts.en.refused, reason)) throw error;
  return { redirect: `/advances/new?${new URLSearchParams({ ...typed, refused: reason })}` };
}
