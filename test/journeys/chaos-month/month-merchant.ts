import { randomUUID } from 'node:crypto';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { SaleMethod } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  ApprovalMode,
  DisputeOutcome,
  MerchantDecisionKind,
  RefundBlocker,
  RefundInitiator,
  ReviewDecision,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { addDays, civilDateAt } from '../../../services/platform/civil-date.ts';
import { errorInfoOf } from '../../../services/platform/rpc/connect-errors.ts';
import { newTenant, newWrite, type TestTenant } from '../../support/harness.ts';
import type { Clients } from '../command-builder.ts';
import {
  type AdvancePlan,
  DAYS,
  type DisputePlan,
  type MerchantPlan,
  type PaymentPlan,
  type RefundPlan,
} from './month-plan.ts';

/** An action of a merchant, their customer or an operator on a day of the month. */
export interface Step {
  readonly day: number;
  run(): Promise<void>;
}

/** Refusals of calls that something else in the month has preceded. */
const REFUSALS: ReadonlySet<string | undefined> = new Set([
  'REFUND_EXECUTION_STARTED',
  'REFUND_CASE_STATE',
  'REFUND_CASE_BLOCKED',
  'REFUND_EXCEEDS_PAYMENT',
  'REFUND_EXCEEDS_SALE',
  'NOTHING_TO_ADVANCE',
  'QUOTE_STALE',
  'QUOTE_EXPIRED',
  'COVERED_PART_DUE',
  'ADVANCE_REQUEST_STATE',
]);

/** The last day of the month is yesterday. */
export const dateOf = (day: number) => addDays(civilDateAt(new Date()), day - DAYS - 1);
const momentOn = (date: string) => timestampFromDate(new Date(`${date}T15:00:00Z`));

/** A payment as its refunds and disputes name it. */
interface Payment {
  readonly paymentIntentId: string;
  readonly saleId: string | undefined;
  readonly paidAmountMinor: bigint;
  readonly paidAt: ReturnType<typeof momentOn>;
}

/** What a merchant has done, as far as the services have confirmed it. */
export interface Confirmed {
  readonly sales: { readonly grossMinor: bigint; readonly feesMinor: bigint }[];
  readonly refundCaseIds: string[];
  readonly lostSales: { readonly grossMinor: bigint }[];
  readonly openDisputeIds: Set<string>;
}

/** Plays the month of one merchant with the RPCs that other teams call. */
export class MonthMerchant {
  readonly tenant: TestTenant;
  readonly confirmed: Confirmed = { sales: [], refundCaseIds: [], lostSales: [], openDisputeIds: new Set() };
  readonly #clients: Clients;

  constructor(clients: Clients, environment: Environment) {
    this.#clients = clients;
    this.tenant = newTenant(environment);
  }

  /** The steps by day; those of one day are in the order of their dependencies. */
  steps({ payments, advances, overdraft, rateBps }: MerchantPlan): Step[] {
    return [
      ...(rateBps === null ? [] : [this.#setRate(rateBps)]),
      ...payments.flatMap((plan) => this.#payment(plan)),
      ...advances.flatMap((plan) => this.#advance(plan)),
      ...(overdraft ? this.#overdraft(overdraft) : []),
    ].sort((one, other) => one.day - other.day);
  }

  #write(day: number) {
    const occurredAt = momentOn(dateOf(Math.min(day, DAYS)));
    return { ...newWrite(this.tenant), occurredAt };
  }

  /** A call that may be refused because of other steps. */
  #step(day: number, call: () => Promise<unknown>): Step {
    const run = async () => {
      try {
        await call();
      } catch (error) {
        if (!REFUSALS.has(errorInfoOf(error)?.reason)) throw error;
      }
    };
    return { day: Math.min(day, DAYS), run };
  }

  #setRate(monthlyRateBps: number): Step {
    return this.#step(1, () => this.#clients.advances.setAdvanceRate({ ...this.#write(1), monthlyRateBps }));
  }

  #payment({ day, kind, installments, grossMinor, recordedAfter, refunds, dispute }: PaymentPlan): Step[] {
    const paidOn = kind === 'EARLIER' ? addDays(dateOf(day), -30) : dateOf(day);
    const payment: Payment = {
      paymentIntentId: randomUUID(),
      saleId: randomUUID(),
      paidAmountMinor: grossMinor,
      paidAt: momentOn(paidOn),
    };
    return [
      this.#sell(day + recordedAfter, payment, kind === 'INSTANT' ? 'INSTANT' : installments),
      ...refunds.flatMap((plan) => this.#refund(day + plan.after, payment, plan)),
      ...(dispute ? this.#dispute(day + dispute.after, payment, dispute) : []),
    ];
  }

  /** Records the sale of a payment, by instant transfer or by card with this many installments. */
  #sell(day: number, { saleId, paidAmountMinor, paidAt }: Payment, installments: number | 'INSTANT'): Step {
    const feesMinor = paidAmountMinor / 20n;
    return this.#step(day, async () => {
      await this.#clients.funds.recordSale({
        ...this.#write(day),
        occurredAt: paidAt,
        saleId: saleId!,
        grossAmountMinor: paidAmountMinor,
        feesAmountMinor: feesMinor,
        ...(installments === 'INSTANT'
          ? { method: SaleMethod.INSTANT_TRANSFER, installments: 1 }
          : { method: SaleMethod.CARD, installments }),
      });
      this.confirmed.sales.push({ grossMinor: paidAmountMinor, feesMinor });
    });
  }

  #overdraft(plan: RefundPlan): Step[] {
    const day = 2 + plan.after;
    const payment: Payment = {
      paymentIntentId: randomUUID(),
      saleId: undefined,
      paidAmountMinor: 400_000n,
      paidAt: momentOn(dateOf(1)),
    };
    return this.#refund(day, payment, { ...plan, initiator: 'MERCHANT' });
  }

  #refund(day: number, payment: Payment, plan: RefundPlan): Step[] {
    const { refunds } = this.#clients;
    const { share, ending, decision, review, blocker, canceled, delay } = plan;
    // A whole refund has the ending 00.
    const amountMinor =
      share === 1
        ? payment.paidAmountMinor
        : (payment.paidAmountMinor / BigInt(share) / 100n) * 100n + ending;
    let refundCaseId: string | undefined;
    const open = this.#step(day, async () => {
      const { refundCase } = await refunds.openRefundCase({
        ...this.#write(day),
        ...payment,
        amountMinor,
        reason: 'does not fit',
        window: { case: 'refundWindowDays', value: 90 },
        initiator: RefundInitiator[plan.initiator],
      });
      refundCaseId = refundCase!.id;
      this.confirmed.refundCaseIds.push(refundCaseId);
    });
    const next = (on: number, call: (of: CaseWrite) => Promise<unknown>) =>
      this.#step(on, async () => {
        if (refundCaseId !== undefined) await call({ ...this.#write(on), refundCaseId });
      });
    const kyc = { blocker: RefundBlocker.KYC_NOT_APPROVED };
    const steps: Step[] = [open];
    if (blocker !== 'NONE') steps.push(next(day, (of) => refunds.addBlocker({ ...of, ...kyc })));
    if (decision !== 'NONE') {
      const decided = { decision: MerchantDecisionKind[decision] };
      steps.push(next(day + delay, (of) => refunds.decideRefundCase({ ...of, ...decided })));
    }
    if (blocker === 'CLEARED') steps.push(next(day + delay, (of) => refunds.clearBlocker({ ...of, ...kyc })));
    if (review !== 'NONE') {
      const reviewed = { decision: ReviewDecision[review], approvalMode: ApprovalMode.OPERATIONS };
      steps.push(next(day + 2 * delay + 1, (of) => refunds.reviewRefundCase({ ...of, ...reviewed })));
    }
    if (canceled) steps.push(next(day + delay, (of) => refunds.cancelRefundCase(of)));
    return steps;
  }

  #dispute(day: number, { paymentIntentId, saleId, paidAmountMinor }: Payment, plan: DisputePlan): Step[] {
    const { refunds } = this.#clients;
    const disputeId = randomUUID();
    let isOpen = false;
    const open = this.#step(day, async () => {
      await refunds.openDispute({ ...this.#write(day), disputeId, paymentIntentId, saleId });
      isOpen = true;
      this.confirmed.openDisputeIds.add(disputeId);
    });
    if (plan.outcome === 'OPEN') return [open];
    const outcome = DisputeOutcome[plan.outcome];
    const close = this.#step(day + plan.delay, async () => {
      if (!isOpen) return;
      await refunds.closeDispute({ ...this.#write(day + plan.delay), disputeId, outcome });
      this.confirmed.openDisputeIds.delete(disputeId);
      if (plan.outcome === 'LOST') this.confirmed.lostSales.push({ grossMinor: paidAmountMinor });
    });
    return [open, close];
  }

  #advance({ day, grossMinor, outcome }: AdvancePlan): Step[] {
    const { advances } = this.#clients;
    const payment: Payment = {
      paymentIntentId: randomUUID(),
      saleId: randomUUID(),
      paidAmountMinor: grossMinor,
      paidAt: momentOn(dateOf(day)),
    };
    const run = async () => {
      if (outcome === 'QUOTED') return advances.quoteAdvance(this.#write(day));
      const { advanceRequest } = await this.#requestAdvance(day);
      const of = { advanceRequestId: advanceRequest!.id };
      if (outcome === 'REFUSED')
        await advances.refuseAdvance({ ...this.#write(day), ...of, reason: 'not now' });
      if (outcome === 'APPROVED' || outcome === 'RELEASED') {
        await advances.approveAdvance({ ...this.#write(day), ...of });
      }
      if (outcome === 'RELEASED') await advances.releaseAdvance({ ...this.#write(day), ...of });
    };
    return [this.#sell(day, payment, 1), this.#step(day, run)];
  }

  /**
   * Requests a quote, or another one if it has expired: the workflow that completes a request after 20 seconds, as when its
   * process is paused, refuses a quote of the past.
   */
  async #requestAdvance(day: number, tries = 3): ReturnType<Clients['advances']['requestAdvance']> {
    const { advances } = this.#clients;
    const { quote } = await advances.quoteAdvance(this.#write(day));
    try {
      return await advances.requestAdvance({ ...this.#write(day), quoteId: quote!.id });
    } catch (error) {
      if (errorInfoOf(error)?.reason !== 'QUOTE_EXPIRED' || tries === 1) throw error;
      return this.#requestAdvance(day, tries - 1);
    }
  }
}

type CaseWrite = TestTenant & {
  idempotencyKey: string;
  occurredAt: ReturnType<typeof momentOn>;
  refundCaseId: string;
};
