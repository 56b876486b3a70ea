import { Type } from 'typebox';
import { v5 as uuidv5 } from 'uuid';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { DashboardClients } from '../dashboard-clients.ts';
import { reasonOf } from '../shell/failures.ts';
import type { FeatureDependencies } from '../shell/feature.ts';
import { textsFor, type View } from '../shell/view.ts';
import { advancesTexts } from './advances.texts.ts';
import { type BoundFaults, type QuoteBounds, readBounds } from './quote-bounds.ts';
import { quoteFormPage } from './quote-form.ts';
import { quotePage } from './quote-view.ts';

const bounds = {
  amount: Type.Optional(Type.String({ maxLength: 40 })),
  until: Type.Optional(Type.String({ maxLength: 40 })),
};
const query = Type.Object({ ...bounds, refused: Type.Optional(Type.String({ maxLength: 40 })) });

/** /advances/new: asks for a quote, and shows it. */
export function quotePages({ pages, clients }: FeatureDependencies): void {
  const place = { path: '/advances/new', role: Role.DEVELOPER, section: 'advances' } as const;

  pages.page({ ...place, query }, (view, { query: { amount = '', until = '', refused = '' } }) => {
    const { refused: refusals } = textsFor(view, advancesTexts);
    const refusal = Object.entries(refusals).find(([reason]) => reason === refused)?.[1];
    return quoteFormPage(clients, view, { typed: { amount, until }, refusal });
  });

  pages.action({ ...place, form: Type.Object(bounds) }, async (view, { form, key }) => {
    const typed = { amount: form.amount ?? '', until: form.until ?? '' };
    const asked = readBounds(view, typed);
    if ('faults' in asked) return quoteFormPage(clients, view, { typed, faults: asked.faults });
    // Whoever comes back to the form and types something else asks for another quote, with the same key in it.
    const idempotencyKey = uuidv5(`${typed.amount} ${typed.until}`, key);
    try {
      const { quote } = await clients.advances.quoteAdvance(
        { ...view.tenant, idempotencyKey, ...asked },
        view.call,
      );
      return quotePage(view, quote!, { typed, maxAmountMinor: asked.maxAmountMinor });
    } catch (error) {
      if (reasonOf(error) !== 'NOTHING_TO_ADVANCE') throw error;
      return quoteFormPage(clients, view, { typed, faults: await nothingFault(clients, view, asked) });
    }
  });
}

/** Why there is nothing to advance within the bounds. */
async function nothingFault(
  { funds }: Pick<DashboardClients, 'funds'>,
  view: View,
  { maxAmountMinor, toDate }: QuoteBounds,
): Promise<BoundFaults> {
  const t = textsFor(view, advancesTexts).form.faults;
  const { installments } = await funds.listAdvanceableInstallments({ ...view.tenant, toDate }, view.call);
  const [nearest] = installments;
  if (!nearest) return { until: t.nothingUntil };
  const isTooMuch = maxAmountMinor !== undefined && nearest.amountMinor > maxAmountMinor;
  if (!isTooMuch) return { amount: t.fee };
  return { amount: t.least(view.format.money(nearest.amountMinor), view.format.date(nearest.date)) };
}
