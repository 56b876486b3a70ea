import { type Timestamp, timestampFromDate, timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { type Static, Type } from 'typebox';
import { ApprovalMode, RefundInitiator } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { DAY_MS } from '../../../../services/platform/durations.ts';
import { reasonOf, refusalText } from '../../shell/failures.ts';
import type { Pages } from '../../shell/pages.ts';
import { textsFor, type View } from '../../shell/view.ts';
import { renderPanel } from '../panel.page.ts';
import { refusalTexts } from '../refusals.texts.ts';
import { IN_SANDBOX, redirectWithOutcome } from '../sandbox.ts';
import { simulateTexts } from '../simulate.texts.ts';
import { paymentOf } from '../simulated-facts.ts';
import { amountMinorOf, countOf, type Draft, daysAgo, faultsOf, idOf, thisHourMs } from '../typed-values.ts';
import { MAX_DAYS_AGO, REQUESTERS } from './refund-form.ts';

const MAX_REASON_LENGTH = 2_000;
const WINDOW_DAYS = 30;
/** The field at fault, by the reason of a refusal. */
const FIELDS: Readonly<Record<string, string>> = {
  REFUND_EXCEEDS_PAYMENT: 'amount',
  REFUND_EXCEEDS_SALE: 'amount',
  PAYMENT_FACTS_DIFFER: 'paid',
  PAID_AT_IN_FUTURE: 'asked_days_ago',
  REFUND_WINDOW_EXPIRED: 'asked_days_ago',
};

const typed = (maxLength = 100) => Type.String({ maxLength });
const RefundForm = Type.Object({
  sale_id: Type.Optional(typed()),
  paid_at: Type.Optional(typed()),
  amount: typed(),
  paid: typed(),
  who: Type.Enum([...REQUESTERS]),
  reason: typed(20_000),
  asked_days_ago: typed(),
  refund_product: Type.Optional(typed()),
});
type RefundValues = Static<typeof RefundForm>;

/** Opens a refund case, for a sale or a made-up payment. */
export function openRefundCaseAction(pages: Pages): void {
  const options = { ...IN_SANDBOX, path: '/simulate/refund-cases', form: RefundForm } as const;
  pages.action(options, async (view, { form, key }) => {
    const { requested, faults } = parseForm(view, form);
    const reject = (refused: Draft['faults']) =>
      renderPanel(view, { refund: { values: form, faults: refused } });
    if (!requested) return reject(faults);
    const saleId = idOf(form.sale_id);
    const paymentIntentId = saleId === undefined ? key : paymentOf(saleId);
    const about = { idempotencyKey: key, paymentIntentId };
    const request = { ...about, ...requested, ...paymentFactsOf(form, saleId, requested.occurredAt) };
    try {
      const { refundCase } = await view.clients.refundCases.openRefundCase(request);
      return redirectWithOutcome(view, `/simulate/refund-cases/${refundCase!.id}`, 'refund');
    } catch (error) {
      const field = FIELDS[reasonOf(error) ?? ''];
      const fault = refusalText(error, refusalTexts, view.language);
      if (!field || fault === undefined) throw error;
      return reject({ [field]: fault });
    }
  });
}

function parseForm(view: View, form: RefundValues) {
  const t = textsFor(view, simulateTexts).faults;
  const amountMinor = amountMinorOf(view, form.amount);
  const paidAmountMinor = amountMinorOf(view, form.paid);
  const days = countOf(form.asked_days_ago, 0, MAX_DAYS_AGO);
  const reason = form.reason.replaceAll('\r\n', '\n').trim();
  const faults = faultsOf({
    amount: amountMinor === undefined && t.amount,
    paid: paidAmountMinor === undefined && t.amount,
    asked_days_ago: days === undefined && t.days(String(MAX_DAYS_AGO)),
    reason: (reason === '' || [...reason].length > MAX_REASON_LENGTH) && t.reason,
  });
  if (faults) return { requested: undefined, faults };
  const occurredAt = daysAgo(days!);
  const isInstant = form.who === 'INSTANT' && { approvalMode: ApprovalMode.INSTANT };
  const initiator = RefundInitiator[form.who === 'MERCHANT' ? 'MERCHANT' : 'CUSTOMER'];
  const amounts = { amountMinor: amountMinor!, paidAmountMinor: paidAmountMinor! };
  return {
    requested: { ...amounts, reason, initiator, ...isInstant, ...(occurredAt && { occurredAt }) },
    faults: {},
  };
}

/** The facts that a payment's first case fixes: those known of the sale, else a payment one day earlier. */
function paymentFactsOf(form: RefundValues, saleId: string | undefined, occurredAt: Timestamp | undefined) {
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
