import { Type } from 'typebox';
import { v5 as uuidv5 } from 'uuid';
import { AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { reasonOf } from '../shell/failures.ts';
import type { Pages } from '../shell/pages.ts';
import { textsFor, type View } from '../shell/view.ts';
import { advancesTexts } from './advances.texts.ts';
import { quotePath } from './quote.page.ts';
import { type BoundFaults, boundParameters, type QuoteBounds, readBounds } from './quote-bounds.ts';
import { quoteFormPage } from './quote-form.ts';

const query = Type.Object({ ...boundParameters, refused: Type.Optional(Type.String({ maxLength: 40 })) });

/** /advances/new: the form for a quote, which leads to the quote's page. */
export function newQuotePages(pages: Pages): void {
  const rpc = AdvanceService.method.quoteAdvance;
  const spec = { path: '/advances/new', rpc, section: 'advances' } as const;

  pages.page({ ...spec, query }, (view, { query: { amount = '', until = '', refused = '' } }) => {
    const { refused: refusals } = textsFor(view, advancesTexts);
    const refusal = Object.entries(refusals).find(([reason]) => reason === refused)?.[1];
    return quoteFormPage(view, { typed: { amount, until }, refusal });
  });

  pages.action({ ...spec, form: Type.Object(boundParameters) }, async (view, { form, key }) => {
    const typed = { amount: form.amount ?? '', until: form.until ?? '' };
    const parsed = readBounds(view, typed);
    if ('faults' in parsed) return quoteFormPage(view, { typed, faults: parsed.faults });
    // The browser's back button returns to the same form: other limits are another request, despite the same key.
    const idempotencyKey = uuidv5(`${typed.amount} ${typed.until}`, key);
    try {
      const { quote } = await view.clients.advances.quoteAdvance({ idempotencyKey, ...parsed });
      return { redirect: quotePath(quote!.id, typed) };
    } catch (error) {
      if (reasonOf(error) !== 'NOTHING_TO_ADVANCE') throw error;
      return quoteFormPage(view, { typed, faults: await nothingFault(view, parsed) });
    }
  });
}

/** Why nothing can be advanced within the limits. */
async function nothingFault(view: View, { maxAmountMinor, toDate }: QuoteBounds): Promise<BoundFaults> {
  const t = textsFor(view, advancesTexts).form.faults;
  const { installments } = await view.clients.funds.listAdvanceableInstallments({ toDate });
  const [nearest] = installments;
  if (!nearest) return { until: t.nothingUntil };
  const isTooMuch = maxAmountMinor !== undefined && nearest.amountMinor > maxAmountMinor;
  if (!isTooMuch) return { amount: t.fee };
  return { amount: t.least(view.format.money(nearest.amountMinor), view.format.date(nearest.date)) };
}
