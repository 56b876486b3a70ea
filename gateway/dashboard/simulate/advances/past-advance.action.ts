import { SaleMethod } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Pages } from '../../shell/pages.ts';
import { IN_SANDBOX, redirectWithOutcome } from '../sandbox.ts';
import { daysAgo } from '../typed-values.ts';

/** Long enough for all three installments to be due: one every 30 days, moved to the next business day. */
const SOLD_DAYS_AGO = 100;
const SALE = {
  method: SaleMethod.CARD,
  grossAmountMinor: 30_000n,
  feesAmountMinor: 1_200n,
  installments: 3,
};

/** Records a past sale and an advance on it requested at the same time, which can be settled today. */
export function pastAdvanceAction(pages: Pages): void {
  pages.action({ ...IN_SANDBOX, path: '/simulate/advances' }, async (view, { key }) => {
    const write = (step: string) => ({
      idempotencyKey: `${key}:${step}`,
      occurredAt: daysAgo(SOLD_DAYS_AGO)!,
    });
    const { installments } = await view.clients.funds.recordSale({ ...write('sale'), ...SALE, saleId: key });
    const bounds = {
      maxAmountMinor: SALE.grossAmountMinor - SALE.feesAmountMinor,
      toDate: installments.at(-1)!.date,
    };
    const { quote } = await view.clients.advances.quoteAdvance({ ...write('quote'), ...bounds });
    const request = { ...write('request'), quoteId: quote!.id };
    const { advanceRequest } = await view.clients.advances.requestAdvance(request);
    return redirectWithOutcome(view, `/simulate/advances/${advanceRequest!.id}`, 'advance');
  });
}
