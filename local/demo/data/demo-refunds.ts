import { ConnectError } from '@connectrpc/connect';
import { BlockOutcome, BlockReason } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import {
  ApprovalMode,
  MerchantDecisionKind,
  ProviderOutcome,
  RefundBlocker,
  RefundCaseStatus,
  RefundDebitOutcome,
  RefundInitiator,
  ReviewDecision,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { errorInfoOf } from '../../../services/platform/rpc/connect-errors.ts';
import { disputeDemoPayment } from './demo-disputes.ts';
import { attachReceipt } from './demo-evidence.ts';
import type { DemoSale } from './demo-sales.ts';
import { type DemoTenant, FULL_SIZE } from './demo-tenant.ts';

const REVIEW_DAYS = 7;
const PAID_PER_REFUNDED = 2n;
/** How many days before its refund case a payment without a sale was made. */
const PAID_DAYS_BEFORE = 3;
const WINDOWS_DAYS = [7, 30, 90];
/** The prefix of the provider's ids of demo refunds. */
export const DEMO_REFUND_PREFIX = 'rf_';
/** The demo connector accepts refunds of such amounts and reports no outcome. */
const SILENT_CENTAVOS = 4;
const BLOCKERS = [
  RefundBlocker.KYC_NOT_APPROVED,
  RefundBlocker.MERCHANT_NOT_ACTIVE,
  RefundBlocker.PAYMENT_NOT_LIVE,
];
const REASONS = [
  'Produto não chegou',
  'Cobrança em duplicidade',
  'Desistência da compra',
  'Produto com defeito',
];

/** An opened case, with what its later steps need. */
interface OpenedCase {
  readonly step: string;
  readonly caseId: string;
  readonly paymentIntentId: string;
  readonly daysAgo: number;
  readonly amountMinor: bigint;
  readonly paidAmountMinor: bigint;
  readonly saleId: string | undefined;
}

interface Scenario {
  readonly initiator: RefundInitiator;
  readonly approvalMode?: ApprovalMode;
  /** How many days ago the case opens, at least and at most. */
  readonly openedDaysAgo: readonly [number, number];
  readonly amountMinor?: bigint;
  /** Whether the provider accepts the refund and reports no outcome. */
  readonly staysSilent?: boolean;
  /** What happens after the case opens. */
  readonly run?: Step;
}

type Step = (demo: DemoTenant, opened: OpenedCase, n: number) => Promise<void>;

const { CUSTOMER, MERCHANT } = RefundInitiator;
const instant = { initiator: CUSTOMER, approvalMode: ApprovalMode.INSTANT, openedDaysAgo: [1, 80] } as const;

/**
 * Assigned to demo cases round robin; together they reach all nine states and stay there: an approved case has a blocker,
 * since it would be executed without one, and the provider has the refunds that are in process.
 */
const SCENARIOS: readonly Scenario[] = [
  { initiator: CUSTOMER, openedDaysAgo: [0, REVIEW_DAYS - 2] },
  { initiator: CUSTOMER, openedDaysAgo: [1, 60], run: decide(MerchantDecisionKind.CONTESTED) },
  { initiator: CUSTOMER, openedDaysAgo: [REVIEW_DAYS + 1, 60], run: expire },
  { initiator: CUSTOMER, openedDaysAgo: [1, 60], run: blockThen(decide(MerchantDecisionKind.APPROVED)) },
  { initiator: MERCHANT, openedDaysAgo: [1, 30], run: block },
  { ...instant, staysSilent: true, run: execute(ProviderOutcome.SUBMITTED) },
  { initiator: MERCHANT, openedDaysAgo: [1, 80], staysSilent: true, run: execute(ProviderOutcome.SUBMITTED) },
  { ...instant, run: execute(ProviderOutcome.SUBMITTED, ProviderOutcome.SUCCEEDED) },
  { initiator: MERCHANT, openedDaysAgo: [1, 80], run: execute(ProviderOutcome.SUCCEEDED) },
  { ...instant, run: execute(ProviderOutcome.FAILED) },
  { ...instant, run: execute(ProviderOutcome.SUBMITTED, ProviderOutcome.SUCCEEDED, ProviderOutcome.FAILED) },
  { initiator: CUSTOMER, openedDaysAgo: [1, 60], run: cancel },
  {
    initiator: CUSTOMER,
    openedDaysAgo: [1, 60],
    run: contestThenReview(ReviewDecision.REJECT, ApprovalMode.OPERATIONS),
  },
  {
    initiator: CUSTOMER,
    openedDaysAgo: [1, 60],
    run: blockThen(contestThenReview(ReviewDecision.APPROVE, ApprovalMode.RISK_POLICY)),
  },
  { initiator: MERCHANT, openedDaysAgo: [1, 60], amountMinor: 50_000_000n, run: execute() },
  { initiator: MERCHANT, openedDaysAgo: [1, 60], run: dispute },
];

/** How a case comes to each state, by the index of its scenario. */
const SCENARIO_OF: Readonly<Record<string, number>> = {
  MERCHANT_REVIEW: 0,
  SERVICE_REVIEW: 1,
  APPROVED_FOR_EXECUTION: 3,
  PROCESSING: 5,
  SUCCEEDED: 7,
  FAILED: 9,
  CANCELED: 11,
  REJECTED: 12,
  FUNDING_REQUIRED: 14,
};

/**
 * Opens a case for each state that has none, because reviews expire and users of the sandbox advance cases. Repeating
 * it on the same day has no effect.
 * @param tenant returns a fresh demo tenant, so that a case does not depend on earlier ones.
 */
export async function topUpDemoRefunds(tenant: () => DemoTenant): Promise<void> {
  for (const [state, index] of Object.entries(SCENARIO_OF)) {
    const demo = tenant();
    const status = RefundCaseStatus[state as keyof typeof RefundCaseStatus];
    const { refundCases } = await demo.clients.refunds.listRefundCases({
      ...demo.tenant,
      status,
      pageSize: 1,
    });
    if (refundCases.length > 0) continue;
    const scenario = SCENARIOS[index]!;
    const n = FULL_SIZE.refundCases + index;
    const opened = await open(demo, { ...scenario, openedDaysAgo: [1, 1] }, n, []);
    await scenario.run?.(demo, opened, n);
  }
}

/** Opens cases that cover all nine states, and every nullable field with and without a value. */
export async function openDemoRefunds(demo: DemoTenant, sales: readonly DemoSale[]): Promise<void> {
  for (let n = 0; n < demo.size.refundCases; n += 1) {
    const scenario = demo.pick(SCENARIOS, n);
    const opened = await open(demo, scenario, n, sales);
    await scenario.run?.(demo, opened, n);
  }
}

async function open(
  demo: DemoTenant,
  scenario: Scenario,
  n: number,
  sales: readonly DemoSale[],
): Promise<OpenedCase> {
  const round = Math.floor(n / SCENARIOS.length);
  const [min, max] = scenario.openedDaysAgo;
  // Spread evenly, so that no two large cases fall into the same 24 hours.
  const daysAgo =
    min + ((max - min) * (round + demo.between(300, 700) / 1_000) * SCENARIOS.length) / demo.size.refundCases;
  const earlier = sales.filter((sale) => sale.daysAgo > daysAgo);
  // A given amount exceeds every sale.
  const sale = round % 4 === 0 && !scenario.amountMinor ? demo.pick(earlier, n) : undefined;
  const drawn = demo.between(500, 4_500);
  const silent = drawn - (drawn % 100) + SILENT_CENTAVOS;
  const amountMinor = scenario.amountMinor ?? BigInt(scenario.staysSilent ? silent : drawn);
  const paidAmountMinor = sale ? BigInt(sale.grossAmountMinor) : amountMinor * PAID_PER_REFUNDED;
  const paidDaysAgo = sale ? sale.daysAgo : daysAgo + PAID_DAYS_BEFORE;
  const windows = WINDOWS_DAYS.filter((days) => days >= paidDaysAgo - daysAgo);
  const paymentIntentId = demo.id(`payment-${n}`);
  const orderId = sale ? sale.orderId : demo.id(`order-${n}`);
  const { refundCase } = await demo.clients.refunds.openRefundCase({
    ...demo.write(`refund-${n}`),
    paymentIntentId,
    amountMinor,
    initiator: scenario.initiator,
    ...(scenario.approvalMode && { approvalMode: scenario.approvalMode }),
    reason: demo.pick(REASONS, n),
    evidenceCount: n % 4,
    paidAmountMinor,
    ...((sale || round % 3 !== 2) && { paidAt: demo.daysAgo(paidDaysAgo) }),
    ...(round % 3 === 0 &&
      windows.length > 0 && { window: { case: 'refundWindowDays', value: demo.pick(windows, round) } }),
    ...(sale && { saleId: sale.saleId }),
    ...(round % 2 === 0 && orderId && { orderId }),
    ...(round % 2 === 1 && { invoiceId: demo.id(`invoice-${n}`) }),
    occurredAt: demo.daysAgo(daysAgo),
  });
  const step = `refund-${n}`;
  if (sale) {
    const hold = { saleId: sale.saleId, ...holdOf(refundCase!.id), amountMinor, once: true };
    await demo.clients.funds.blockFunds({
      ...demo.write(`${step}-hold`),
      ...hold,
      occurredAt: demo.daysAgo(daysAgo),
    });
  }
  const caseId = refundCase!.id;
  return { step, caseId, paymentIntentId, daysAgo, amountMinor, paidAmountMinor, saleId: sale?.saleId };
}

const holdOf = (caseId: string) => ({ reason: BlockReason.REFUND_IN_PROGRESS, sourceId: caseId });

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

function decide(decision: MerchantDecisionKind) {
  return async (demo: DemoTenant, opened: OpenedCase, n: number) => {
    const reason = n % 2 === 0 ? { reason: 'Pedido entregue e assinado' } : {};
    await demo.clients.refunds.decideRefundCase({
      ...next(demo, opened, 'decide', 0.5),
      decision,
      ...reason,
    });
    const isContested = decision === MerchantDecisionKind.CONTESTED;
    const isOdd = Math.floor(n / SCENARIOS.length) % 2 === 1;
    if (isContested && isOdd) await attachReceipt(demo, next(demo, opened, 'receipt', 0.6));
  };
}

async function expire(demo: DemoTenant, opened: OpenedCase): Promise<void> {
  await demo.clients.refunds.expireMerchantReview(next(demo, opened, 'expire', REVIEW_DAYS + 0.01));
}

async function block(demo: DemoTenant, opened: OpenedCase, n: number): Promise<void> {
  const blocker = demo.pick(BLOCKERS, Math.floor(n / SCENARIOS.length));
  await demo.clients.refunds.addBlocker({ ...next(demo, opened, 'block', 0.2), blocker });
}

/** Adds a blocker first, which keeps an approved case from being executed. */
function blockThen(run: Step): Step {
  return async (demo, opened, n) => {
    const blocker = RefundBlocker.KYC_NOT_APPROVED;
    await demo.clients.refunds.addBlocker({ ...next(demo, opened, 'block', 0.1), blocker });
    await run(demo, opened, n);
  };
}

async function cancel(demo: DemoTenant, opened: OpenedCase): Promise<void> {
  await demo.clients.refunds.cancelRefundCase(next(demo, opened, 'cancel', 0.5));
  await releaseHold(demo, opened, 0.5);
}

function contestThenReview(decision: ReviewDecision, approvalMode: ApprovalMode) {
  return async (demo: DemoTenant, opened: OpenedCase, n: number) => {
    await decide(MerchantDecisionKind.CONTESTED)(demo, opened, n);
    await demo.clients.refunds.reviewRefundCase({
      ...next(demo, opened, 'review', 0.8),
      decision,
      approvalMode,
    });
    if (decision === ReviewDecision.REJECT) await releaseHold(demo, opened, 0.8);
  };
}

async function dispute(demo: DemoTenant, { step, ...opened }: OpenedCase, n: number): Promise<void> {
  const { paymentIntentId, daysAgo, paidAmountMinor: amountMinor } = opened;
  const payment = { paymentIntentId, amountMinor, daysAgo: Math.max(daysAgo - 0.5, 0) };
  await disputeDemoPayment(demo, `${step}-dispute`, payment, Math.floor(n / SCENARIOS.length));
}

/** Takes the steps of the refund workflow itself, so that the demo data does not need Temporal. */
function execute(...outcomes: ProviderOutcome[]) {
  return async (demo: DemoTenant, opened: OpenedCase, n: number) => {
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
