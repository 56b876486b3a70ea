import { ConnectError } from '@connectrpc/connect';
import { BlockOutcome, BlockReason } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import {
  type ApprovalMode,
  MerchantDecisionKind,
  ProviderOutcome,
  RefundBlocker,
  RefundDebitOutcome,
  ReviewDecision,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { errorInfoOf } from '../../../services/platform/rpc/connect-errors.ts';
import { disputeDemoPayment } from './demo-disputes.ts';
import { attachReceipt } from './demo-evidence.ts';
import type { DemoTenant } from './demo-tenant.ts';

export const REVIEW_DAYS = 7;
/** The prefix of the provider's ids of demo refunds. */
export const DEMO_REFUND_PREFIX = 'rf_';
const BLOCKERS = [
  RefundBlocker.KYC_NOT_APPROVED,
  RefundBlocker.MERCHANT_NOT_ACTIVE,
  RefundBlocker.PAYMENT_NOT_LIVE,
];

/** An opened case, with what its later steps need. */
export interface OpenedCase {
  /** The prefix of its idempotency keys. */
  readonly step: string;
  /** Its number among the tenant's cases. */
  readonly n: number;
  /** The round in which its scenario was assigned, from 0. */
  readonly round: number;
  readonly caseId: string;
  readonly paymentIntentId: string;
  readonly daysAgo: number;
  readonly amountMinor: bigint;
  readonly paidAmountMinor: bigint;
  readonly saleId: string | undefined;
}

/** What happens to a case after it opens. */
export type Step = (demo: DemoTenant, opened: OpenedCase) => Promise<void>;

/** Identifies the funds held for a case. */
export const holdOf = (caseId: string) => ({ reason: BlockReason.REFUND_IN_PROGRESS, sourceId: caseId });

/** Returns the funds held for a finished case. */
async function releaseHold(demo: DemoTenant, opened: OpenedCase, daysLater: number): Promise<void> {
  const { step, caseId, saleId, daysAgo } = opened;
  if (saleId === undefined) return;
  const release = { saleId, ...holdOf(caseId), outcome: BlockOutcome.RETURNED };
  const occurredAt = demo.daysAgo(Math.max(daysAgo - daysLater, 0));
  await demo.clients.funds.unblockFunds({ ...demo.write(`${step}-hold-end`), ...release, occurredAt });
}

/** The common fields of a step, a number of days after the case opened. */
function next(demo: DemoTenant, opened: OpenedCase, name: string, daysLater: number) {
  return {
    ...demo.write(`${opened.step}-${name}`),
    refundCaseId: opened.caseId,
    occurredAt: demo.daysAgo(Math.max(opened.daysAgo - daysLater, 0)),
  };
}

export function decide(decision: MerchantDecisionKind) {
  return async (demo: DemoTenant, opened: OpenedCase) => {
    const reason = opened.n % 2 === 0 ? { reason: 'Pedido entregue e assinado' } : {};
    await demo.clients.refunds.decideRefundCase({
      ...next(demo, opened, 'decide', 0.5),
      decision,
      ...reason,
    });
    const isContested = decision === MerchantDecisionKind.CONTESTED;
    if (isContested && opened.round % 2 === 1) await attachReceipt(demo, next(demo, opened, 'receipt', 0.6));
  };
}

export async function expire(demo: DemoTenant, opened: OpenedCase): Promise<void> {
  await demo.clients.refunds.expireMerchantReview(next(demo, opened, 'expire', REVIEW_DAYS + 0.01));
}

export async function block(demo: DemoTenant, opened: OpenedCase): Promise<void> {
  const blocker = demo.pick(BLOCKERS, opened.round);
  await demo.clients.refunds.addBlocker({ ...next(demo, opened, 'block', 0.2), blocker });
}

/** Adds a blocker first, which keeps an approved case from being executed. */
export function blockThen(run: Step): Step {
  return async (demo, opened) => {
    const blocker = RefundBlocker.KYC_NOT_APPROVED;
    await demo.clients.refunds.addBlocker({ ...next(demo, opened, 'block', 0.1), blocker });
    await run(demo, opened);
  };
}

export async function cancel(demo: DemoTenant, opened: OpenedCase): Promise<void> {
  await demo.clients.refunds.cancelRefundCase(next(demo, opened, 'cancel', 0.5));
  await releaseHold(demo, opened, 0.5);
}

export function contestThenReview(decision: ReviewDecision, approvalMode: ApprovalMode) {
  return async (demo: DemoTenant, opened: OpenedCase) => {
    await decide(MerchantDecisionKind.CONTESTED)(demo, opened);
    await demo.clients.refunds.reviewRefundCase({
      ...next(demo, opened, 'review', 0.8),
      decision,
      approvalMode,
    });
    if (decision === ReviewDecision.REJECT) await releaseHold(demo, opened, 0.8);
  };
}

export async function dispute(demo: DemoTenant, opened: OpenedCase): Promise<void> {
  const { step, round, paymentIntentId, daysAgo, paidAmountMinor: amountMinor } = opened;
  const payment = { paymentIntentId, amountMinor, daysAgo: Math.max(daysAgo - 0.5, 0) };
  await disputeDemoPayment(demo, `${step}-dispute`, payment, round);
}

/** Takes the steps of the refund workflow itself, so that the demo data does not need Temporal. */
export function execute(...outcomes: ProviderOutcome[]) {
  return async (demo: DemoTenant, opened: OpenedCase) => {
    const { n } = opened;
    const { refunds } = demo.clients;
    await refunds.startRefund(next(demo, opened, 'start', 0.1));
    const outcome = await debit(demo, opened);
    await refunds.recordRefundDebit({ ...next(demo, opened, 'debit-outcome', 0.1), outcome });
    if (outcome === RefundDebitOutcome.INSUFFICIENT) return;
    const isSilent = outcomes.at(-1) === ProviderOutcome.SUBMITTED;
    for (const [index, provider] of outcomes.entries()) {
      await refunds.recordProviderOutcome({
        ...next(demo, opened, `provider-${index}`, 0.2 + index / 10),
        outcome: provider,
        ...((isSilent || n % 3 !== 0) && {
          providerRefundId: `${DEMO_REFUND_PREFIX}${demo.id(opened.step).slice(0, 8)}`,
        }),
        ...(n % 3 !== 1 && {
          submissionStatus: provider === ProviderOutcome.SUBMITTED ? 'accepted' : 'final',
        }),
        ...(n % 3 !== 2 && { submittedAt: next(demo, opened, '', 0.2).occurredAt }),
      });
    }
    if (outcomes.some((provider) => provider !== ProviderOutcome.SUBMITTED))
      await releaseHold(demo, opened, 0.3);
  };
}

/** The balance does not suffice, or the execution awaits funding already. */
const NOT_COVERED = new Set<string | undefined>(['INSUFFICIENT_AVAILABLE_BALANCE', 'REFUND_EXECUTION_ENDED']);

async function debit(demo: DemoTenant, opened: OpenedCase): Promise<RefundDebitOutcome> {
  const { step, caseId, amountMinor, saleId } = opened;
  try {
    const request = { ...next(demo, opened, 'debit', 0.1), amountMinor };
    await demo.clients.funds.debitForRefund({ ...request, ...(saleId && { saleId }) });
    return RefundDebitOutcome.DEBITED;
  } catch (error) {
    if (!(error instanceof ConnectError && NOT_COVERED.has(errorInfoOf(error)?.reason))) throw error;
    await demo.clients.funds.awaitFunding({
      ...demo.write(`${step}-await`),
      refundCaseId: caseId,
      amountMinor,
      execution: 1,
      requestedAt: demo.daysAgo(opened.daysAgo),
      ...(saleId && { saleId }),
    });
    return RefundDebitOutcome.INSUFFICIENT;
  }
}
