import { DisputeOutcome, DisputeReason } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { attachReceipt } from './demo-evidence.ts';
import type { DemoTenant } from './demo-tenant.ts';

const RESPONSE_DAYS = 10;
const RESPONDED_AFTER_DAYS = 3;
const SUBMITTED_AFTER_DAYS = 5;
const CLOSED_AFTER_DAYS = 20;
const { UNSPECIFIED, WON, LOST } = DisputeOutcome;

/** What happens to disputes, round robin. A recent one without a response awaits it, an older one is past its due date. */
const COURSES = [
  { responds: false, outcome: UNSPECIFIED },
  { responds: true, outcome: UNSPECIFIED },
  { responds: true, outcome: WON },
  { responds: false, outcome: LOST },
];
const REASONS = [
  DisputeReason.PRODUCT_NOT_RECEIVED,
  DisputeReason.FRAUDULENT,
  DisputeReason.DUPLICATE,
  DisputeReason.SUBSCRIPTION_CANCELED,
  DisputeReason.PRODUCT_UNACCEPTABLE,
];
const RESPONSE = `O pedido foi entregue no endereço do cliente e assinado por ele.
O código de rastreio e a nota fiscal mostram a data da entrega.`;

/** A payment whose customer disputes it a number of days ago. */
interface DisputedPayment {
  readonly paymentIntentId: string;
  readonly amountMinor: bigint;
  readonly daysAgo: number;
}

/** Opens a dispute and takes it through the n-th course of events. */
export async function disputeDemoPayment(
  demo: DemoTenant,
  step: string,
  { daysAgo, ...payment }: DisputedPayment,
  n: number,
): Promise<void> {
  const { refunds } = demo.clients;
  const { responds, outcome } = demo.pick(COURSES, n);
  const disputeId = demo.id(step);
  const at = (daysLater: number) => demo.daysAgo(Math.max(daysAgo - daysLater, 0));
  await refunds.openDispute({
    ...demo.write(step),
    ...payment,
    disputeId,
    occurredAt: at(0),
    reason: demo.pick(REASONS, n),
    dueAt: demo.daysAgo(daysAgo - RESPONSE_DAYS),
  });
  if (responds) {
    const receipt = { ...demo.write(`${step}-receipt`), disputeId };
    await attachReceipt(demo, { ...receipt, occurredAt: at(RESPONDED_AFTER_DAYS) });
    const response = { disputeId, text: RESPONSE, occurredAt: at(RESPONDED_AFTER_DAYS) };
    await refunds.respondToDispute({ ...demo.write(`${step}-respond`), ...response });
    if (daysAgo > SUBMITTED_AFTER_DAYS) {
      const submission = { disputeId, occurredAt: at(SUBMITTED_AFTER_DAYS) };
      await refunds.recordResponseSubmission({ ...demo.write(`${step}-submit`), ...submission });
    }
  }
  if (outcome === UNSPECIFIED) return;
  const end = { disputeId, outcome, occurredAt: at(CLOSED_AFTER_DAYS) };
  await refunds.closeDispute({ ...demo.write(`${step}-close`), ...end });
}
