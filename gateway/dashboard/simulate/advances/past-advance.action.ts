import { Type } from 'typebox';
import { SaleMethod } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { DashboardClients } from '../../dashboard-clients.ts';
import { redirectWithOutcome, type SandboxPages } from '../sandbox-pages.ts';
import { daysAgo } from '../typed-values.ts';

/** All instalments, one every thirty days and rolled to a business day, have come due since. */
const SOLD_DAYS_AGO = 100;
const SALE = {
  method: SaleMethod.CARD,
  grossAmountMinor: 30_000n,
  feesAmountMinor: 1_200n,
  installments: 3,
};

/** Makes a sale of the past and an advance of it, requested at that time: one that can go to its end today. */
export function pastAdvanceAction(pages: SandboxPages, { funds, advances }: DashboardClients): void {
  pages.action({ path: '/simulate/advances', form: Type.Object({}) }, async (view, { key }) => {
    const write = (step: string) => ({
      ...view.tenant,
      idempotencyKey: `${key}:${step}`,
      occurredAt: daysAgo(SOLD_DAYS_AGO)!,
    });
    const { installments } = await funds.recordSale({ ...write('sale'), ...SALE, saleId: key }, view.call);
    const bounds = {
      maxAmountMinor: SALE.grossAmountMinor - SALE.feesAmountMinor,
      toDate: installments.at(-1)!.date,
    };
    const { quote } = await advances.quoteAdvance({ ...write('quote'), ...bounds }, view.call);
    const request = { ...write('request'), quoteId: quote!.id };
    const { advanceRequest } = await advances.requestAdvance(request, view.call);
    return redirectWithOutcome(view, `/simulate/advances/${advanceRequest!.id}`, 'advance');
  });
}
