import { type Timestamp, timestampFromDate, timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { type Static, Type } from 'typebox';
import { ApprovalMode, RefundInitiator } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { DashboardClients } from '../../dashboard-clients.ts';
import { textsFor, type View } from '../../shell/view.ts';
import { drawPanel } from '../panel.page.ts';
import { paymentOf } from '../sales/sale-payment.ts';
import { redirectWithOutcome, type SandboxPages } from '../sandbox-pages.ts';
import { simulateTexts } from '../simulate.texts.ts';
import { amountMinorOf, countOf, daysAgo, faultsOf, idOf, thisHourMs } from '../typed-values.ts';
import { BEGINNINGS, MOST_DAYS_AGO } from './refund-form.ts';

const DAY_MS = 86_400_000;
const MAX_REASON_LENGTH = 2_000;
const WINDOW_DAYS = 30;

const typed = (maxLength = 100) => Type.String({ maxLength });
const RefundForm = Type.Object({
  sale_id: Type.Optional(typed()),
  paid_at: Type.Optional(typed()),
  amount: typed(),
  paid: typed(),
  who: Type.Enum([...BEGINNINGS]),
  reason: typed(20_000),
  asked_days_ago: typed(),
  refund_product: Type.Optional(typed()),
});
type RefundValues = Static<typeof RefundForm>;

/** Opens a refund case: of a sale, or of a payment that is made up. */
export function openRefundCaseAction(pages: SandboxPages, clients: DashboardClients): void {
  pages.action({ path: '/simulate/refund-cases', form: RefundForm }, async (view, { form, key }) => {
    const { asked, faults } = askedOf(view, form);
    if (!asked)
      return { ...(await drawPanel(clients, view, { refund: { values: form, faults } })), status: 422 };
    const saleId = idOf(form.sale_id);
    const paymentIntentId = saleId === undefined ? key : paymentOf(saleId);
    const about = { ...view.tenant, idempotencyKey: key, paymentIntentId };
    const request = { ...about, ...asked, ...factsOf(form, saleId, asked.occurredAt) };
    const { refundCase } = await clients.refundCases.openRefundCase(request, view.call);
    return redirectWithOutcome(view, `/simulate/refund-cases/${refundCase!.id}`, 'refund');
  });
}

function askedOf(view: View, form: RefundValues) {
  const t = textsFor(view, simulateTexts).faults;
  const amountMinor = amountMinorOf(view, form.amount);
  const paidAmountMinor = amountMinorOf(view, form.paid);
  const days = countOf(form.asked_days_ago, 0, MOST_DAYS_AGO);
  const reason = form.reason.replaceAll('\r\n', '\n').trim();
  const faults = faultsOf({
    amount: amountMinor === undefined && t.amount,
    paid: paidAmountMinor === undefined && t.amount,
    asked_days_ago: days === undefined && t.days(String(MOST_DAYS_AGO)),
    reason: (reason === '' || [...reason].length > MAX_REASON_LENGTH) && t.reason,
  });
  if (faults) return { asked: undefined, faults };
  const occurredAt = daysAgo(days!);
  const isInstant = form.who === 'INSTANT' && { approvalMode: ApprovalMode.INSTANT };
  const initiator = RefundInitiator[form.who === 'MERCHANT' ? 'MERCHANT' : 'CUSTOMER'];
  const amounts = { amountMinor: amountMinor!, paidAmountMinor: paidAmountMinor! };
  return {
    asked: { ...amounts, reason, initiator, ...isInstant, ...(occurredAt && { occurredAt }) },
    faults: {},
  };
}

/** What the payment's first case fixes: of a sale what is known of it, else a payment of the day before. */
function factsOf(form: RefundValues, saleId: string | undefined, occurredAt: Timestamp | undefined) {
  const productId = idOf(form.refund_product);
  const window = productId
    ? ({ case: 'productId', value: productId } as const)
    : ({ case: 'refundWindowDays', value: WINDOW_DAYS } as const);
  if (saleId === undefined) {
    const paidAt = timestampFromMs((occurredAt ? timestampMs(occurredAt) : thisHourMs()) - DAY_MS);
    return { paidAt, window };
  }
  const soldAt = new Date(form.paid_at ?? '');
  const isKnown = !Number.isNaN(soldAt.getTime());
  return { saleId, ...(isKnown && { paidAt: timestampFromDate(soldAt), window }) };
}
