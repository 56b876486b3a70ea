import {
  ApprovalMode,
  MerchantDecisionKind,
  ProviderOutcome,
  RefundCaseStatus,
  RefundInitiator,
  ReviewDecision,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import {
  block,
  blockThen,
  cancel,
  contestThenReview,
  decide,
  dispute,
  execute,
  expire,
  holdOf,
  type OpenedCase,
  REVIEW_DAYS,
  type Step,
} from './demo-refund-steps.ts';
import type { DemoSale } from './demo-sales.ts';
import { type DemoTenant, FULL_SIZE } from './demo-tenant.ts';

const PAID_PER_REFUNDED = 2n;
/** How many days before its refund case a payment without a sale was made. */
const PAID_DAYS_BEFORE = 3;
const WINDOWS_DAYS = [7, 30, 90];
/** The demo connector accepts refunds of such amounts and reports no outcome. */
const SILENT_CENTAVOS = 4;
const REASONS = [
  'Produto não chegou',
  'Cobrança em duplicidade',
  'Desistência da compra',
  'Produto com defeito',
];

interface Scenario {
  readonly initiator: RefundInitiator;
  readonly approvalMode?: ApprovalMode;
  /** How many days ago the case opens, at least and at most. */
  readonly openedDaysAgo: readonly [number, number];
  readonly amountMinor?: bigint;
  /** Whether the provider accepts the refund and reports no outcome. */
  readonly staysSilent?: boolean;
  readonly run?: Step;
}

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
    await scenario.run?.(demo, opened);
  }
}

/** Opens cases that cover all nine states, and every nullable field with and without a value. */
export async function openDemoRefunds(demo: DemoTenant, sales: readonly DemoSale[]): Promise<void> {
  for (let n = 0; n < demo.size.refundCases; n += 1) {
    const scenario = demo.pick(SCENARIOS, n);
    const opened = await open(demo, scenario, n, sales);
    await scenario.run?.(demo, opened);
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
  const { saleId } = sale ?? {};
  return { step, n, round, caseId, paymentIntentId, daysAgo, amountMinor, paidAmountMinor, saleId };
}
