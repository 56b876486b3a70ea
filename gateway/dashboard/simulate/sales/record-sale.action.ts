import { timestampDate } from '@bufbuild/protobuf/wkt';
import { type Static, Type } from 'typebox';
import { SaleMethod } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { unlessRefused } from '../../../../services/platform/rpc/connect-errors.ts';
import { reasonOf, refusalText } from '../../shell/failures.ts';
import type { Pages } from '../../shell/pages.ts';
import { parseReais } from '../../shell/reais-input.ts';
import { textsFor, type View } from '../../shell/view.ts';
import { renderPanel } from '../panel.page.ts';
import { refusalTexts } from '../refusals.texts.ts';
import { IN_SANDBOX, redirectWithOutcome } from '../sandbox.ts';
import { simulateTexts } from '../simulate.texts.ts';
import { paymentOf } from '../simulated-facts.ts';
import { amountMinorOf, countOf, type Draft, daysAgo, faultsOf, idOf } from '../typed-values.ts';
import { MAX_DAYS_AGO, METHODS } from './sale-form.ts';

/** As RecordSale accepts. */
const MAX_CUSTOMER_LENGTH = 255;
const typed = (maxLength = 100) => Type.String({ maxLength });
const SaleForm = Type.Object({
  method: Type.Enum([...METHODS]),
  gross: typed(),
  fees: typed(),
  installments: typed(),
  sold_days_ago: typed(),
  sale_product: Type.Optional(typed()),
  order_number: Type.Optional(typed()),
  customer: Type.Optional(typed(MAX_CUSTOMER_LENGTH)),
});

/** Records a sale, now or in the past, and publishes its payment event. */
export function recordSaleAction(pages: Pages): void {
  pages.action({ ...IN_SANDBOX, path: '/simulate/sales', form: SaleForm }, async (view, { form, key }) => {
    const { sale, faults } = saleOf(view, form);
    const reject = (refused: Draft['faults']) =>
      renderPanel(view, { sale: { values: form, faults: refused } });
    if (!sale) return reject(faults);
    // The form's key is the sale's id, so that a resubmitted form records one sale.
    const request = { ...sale, idempotencyKey: key, saleId: key };
    try {
      await view.clients.funds.recordSale(request);
    } catch (error) {
      const gross = refusalText(error, refusalTexts, view.language);
      if (reasonOf(error) !== 'AMOUNT_OUT_OF_RANGE' || gross === undefined) throw error;
      return reject({ gross });
    }
    const paidAt = (sale.occurredAt ? timestampDate(sale.occurredAt) : new Date()).toISOString();
    await publishPayment(view, { ...sale, saleId: key, paidAt, method: form.method });
    return redirectWithOutcome(view, `/simulate/sales/${key}`, 'sale');
  });
}

interface PaidSale {
  readonly saleId: string;
  readonly grossAmountMinor: bigint;
  readonly installments: number;
  readonly method: (typeof METHODS)[number];
  readonly paidAt: string;
}

/** Publishes the payment event, as the payments teams do in live; once, even if the form is resubmitted. */
async function publishPayment(
  view: View,
  { saleId, grossAmountMinor, installments, method, paidAt }: PaidSale,
): Promise<void> {
  const objectId = paymentOf(saleId);
  const data = {
    id: objectId,
    amount: Number(grossAmountMinor),
    currency: 'BRL',
    paymentMethod: method,
    ...(method === 'CARD' && { installments }),
    status: 'SUCCEEDED',
    paidAt,
  };
  const event = { type: 'payment.succeeded.v1', objectId, data, idempotencyKey: saleId };
  // A resubmission at another time differs in paidAt; the event has been published already.
  await unlessRefused(view.clients.events.publishEvent(event), { IDEMPOTENCY_KEY_REUSED: undefined });
}

function saleOf(view: View, form: Static<typeof SaleForm>) {
  const t = textsFor(view, simulateTexts).faults;
  const grossAmountMinor = amountMinorOf(view, form.gross);
  const feesAmountMinor = form.fees.trim() === '' ? 0n : parseReais(view.language, form.fees);
  const installments = countOf(form.installments, 1, form.method === 'CARD' ? 99 : 1);
  const days = countOf(form.sold_days_ago, 0, MAX_DAYS_AGO);
  const isTooMuch = grossAmountMinor !== undefined && (feesAmountMinor ?? 0n) > grossAmountMinor;
  const faults = faultsOf({
    gross: grossAmountMinor === undefined && t.amount,
    fees: feesAmountMinor === undefined ? t.amount : isTooMuch && t.fees,
    installments: installments === undefined && t.installments,
    sold_days_ago: days === undefined && t.days(String(MAX_DAYS_AGO)),
  });
  if (faults) return { sale: undefined, faults };
  const occurredAt = daysAgo(days!);
  const productId = idOf(form.sale_product);
  return {
    sale: {
      method: SaleMethod[form.method],
      grossAmountMinor: grossAmountMinor!,
      installments: installments!,
      feesAmountMinor: feesAmountMinor!,
      ...(productId && { productId }),
      ...(form.order_number && { orderNumber: form.order_number }),
      ...(form.customer && { customerReference: form.customer }),
      ...(occurredAt && { occurredAt }),
    },
    faults: {},
  };
}
