import type { Payment } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { details, money } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { pathTo, textsFor, type View } from '../shell/view.ts';
import { paymentTexts } from './payment.texts.ts';

/** The payment of a refund case or dispute, with what was refunded and lost of it. */
export async function readPayment(view: View, paymentIntentId: string): Promise<Payment> {
  const { payment } = await view.clients.refundCases.getPayment({ paymentIntentId });
  return payment!;
}

/** What was paid, refunded and lost of a payment, and what can still be refunded; nothing until the first is known. */
export function paymentAmounts(view: View, payment: Payment): Html {
  const t = textsFor(view, paymentTexts);
  const { paidAmountMinor, lostAmountMinor = 0n, refundableAmountMinor = 0n } = payment;
  if (paidAmountMinor === undefined) return nothing;
  return details([
    [t.paid, money(view, paidAmountMinor)],
    [t.refunded, money(view, payment.refundedAmountMinor)],
    [t.inProgress, money(view, payment.inProgressAmountMinor)],
    [t.lost, lostAmountMinor > 0n ? money(view, lostAmountMinor) : undefined],
    [t.refundable, refundable(view, payment, refundableAmountMinor)],
  ]);
}

function refundable(view: View, { openDisputes, refundWindow }: Payment, amountMinor: bigint): Html {
  const t = textsFor(view, paymentTexts);
  const isOver = refundWindow !== undefined && Number(refundWindow.expiresAt!.seconds) * 1_000 < Date.now();
  const why = openDisputes > 0 ? t.disputed : isOver && amountMinor > 0n ? t.windowOver : undefined;
  return html`${money(view, amountMinor)}${why && html` <span class="soft">${why}</span>`}`;
}

/** The amounts of the payments of a sale, which usually has one. */
export function paymentsOfSale(view: View, payments: readonly Payment[]): Html {
  const t = textsFor(view, paymentTexts);
  return html`${payments.map(
    (payment) =>
      html`<h3>${t.payment} <a href="${pathTo(view, `/refunds?status=&payment=${payment.paymentIntentId}`)}"><code>${payment.paymentIntentId}</code></a></h3>
${paymentAmounts(view, payment)}`,
  )}`;
}
