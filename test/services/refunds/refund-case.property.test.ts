import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  checkPaymentFacts,
  checkRefundable,
  type PaymentFacts,
} from '../../../services/refunds/payment-facts.ts';
import type {
  Change,
  ManualBlocker,
  RefundCase,
  RefundStatus,
  Refusal,
} from '../../../services/refunds/refund-case.ts';
import {
  addBlocker,
  blockDisputed,
  checkDisputable,
  clearBlocker,
  recordDebit,
  recordProviderOutcome,
  startExecution,
  unblockDisputed,
} from '../../../services/refunds/refund-execution.ts';
import { limitBlockers } from '../../../services/refunds/refund-policy.ts';
import {
  approveInReview,
  cancelCase,
  decideAsMerchant,
  expireMerchantReview,
  openCase,
  rejectInReview,
} from '../../../services/refunds/refund-review.ts';

const HOUR_MS = 3_600_000;
const RUNS = 2500;

/** The transition table of the domain rules, held here apart from the code that makes the moves. */
const TABLE: Record<RefundStatus, RefundStatus[]> = {
  MERCHANT_REVIEW: ['APPROVED_FOR_EXECUTION', 'SERVICE_REVIEW', 'CANCELED'],
  SERVICE_REVIEW: ['APPROVED_FOR_EXECUTION', 'REJECTED', 'CANCELED'],
  APPROVED_FOR_EXECUTION: ['PROCESSING', 'FUNDING_REQUIRED', 'SERVICE_REVIEW', 'CANCELED'],
  FUNDING_REQUIRED: ['APPROVED_FOR_EXECUTION', 'SERVICE_REVIEW', 'CANCELED'],
  PROCESSING: ['SUCCEEDED', 'FAILED'],
  SUCCEEDED: ['FAILED'],
  FAILED: [],
  CANCELED: [],
  REJECTED: [],
};
const CLOSED: RefundStatus[] = ['SUCCEEDED', 'FAILED', 'CANCELED', 'REJECTED'];
const UNPAID: RefundStatus[] = ['FAILED', 'CANCELED', 'REJECTED'];

const initiator = fc.constantFrom('CUSTOMER' as const, 'MERCHANT' as const);
const manualBlocker = fc.constantFrom<ManualBlocker>(
  'KYC_NOT_APPROVED',
  'MERCHANT_NOT_ACTIVE',
  'PAYMENT_NOT_LIVE',
);
const reviewer = fc.constantFrom('OPERATIONS' as const, 'RISK_POLICY' as const);
const limits = fc.subarray(['REFUND_FREQUENCY_24H', 'REFUND_VOLUME_24H'] as const);
const target = { of: fc.nat({ max: 4 }) };

const command = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('open' as const),
      amountMinor: fc.oneof(fc.integer({ min: 1, max: 600 }), fc.integer({ min: 1, max: 2 ** 53 - 1 })),
      initiator,
      approvalMode: fc.constantFrom(null, 'INSTANT' as const, 'OPERATIONS' as const),
      limits: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: limits }),
      reviewHours: fc.integer({ min: 1, max: 72 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('decide' as const),
      ...target,
      decision: fc.constantFrom('APPROVED' as const, 'CONTESTED' as const),
      limits,
    }),
  },
  fc.record({ do: fc.constant('expire' as const), ...target }),
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('approve' as const),
      ...target,
      reviewer,
    }),
  },
  fc.record({ do: fc.constant('reject' as const), ...target, reviewer }),
  fc.record({ do: fc.constant('cancel' as const), ...target }),
  fc.record({ do: fc.constant('dispute' as const), opens: fc.boolean() }),
  fc.record({ do: fc.constant('addBlocker' as const), ...target, blocker: manualBlocker }),
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('clearBlocker' as const), ...target, blocker: manualBlocker }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('start' as const), ...target }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('debit' as const),
      ...target,
      outcome: fc.constantFrom('DEBITED' as const, 'DEBITED' as const, 'INSUFFICIENT' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('outcome' as const),
      ...target,
      outcome: fc.constantFrom('SUBMITTED' as const, 'SUCCEEDED' as const, 'FAILED' as const),
    }),
  },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;
type CaseCommand = Exclude<Command, { do: 'open' | 'dispute' }>;

/** Time mostly passes, and at times a clock is behind. */
const step = fc.record({ command, elapsedMs: fc.integer({ min: -HOUR_MS, max: 12 * HOUR_MS }) });
const payment = fc.record({
  paidAmountMinor: fc.oneof(fc.integer({ min: 1, max: 2000 }), fc.constant(2 ** 53 - 1)),
  refundWindowDays: fc.integer({ min: 7, max: 90 }),
});

type World = { facts: PaymentFacts; cases: RefundCase[]; disputed: boolean };

function act(refundCase: RefundCase, command: CaseCommand, at: Date): Change | Refusal {
  switch (command.do) {
    case 'decide':
      return decideAsMerchant(refundCase, command.decision, 'because', command.limits, at);
    case 'expire':
      return expireMerchantReview(refundCase, at);
    case 'approve':
      return approveInReview(refundCase, command.reviewer, at);
    case 'reject':
      return rejectInReview(refundCase, command.reviewer, at);
    case 'cancel':
      return cancelCase(refundCase, at);
    case 'addBlocker':
      return addBlocker(refundCase, command.blocker, at);
    case 'clearBlocker':
      return clearBlocker(refundCase, command.blocker, at);
    case 'start':
      return startExecution(refundCase, at);
    case 'debit':
      return recordDebit(refundCase, command.outcome, at);
    case 'outcome':
      return recordProviderOutcome(refundCase, command.outcome, { providerRefundId: 'pr_1' }, at);
    default:
      return command satisfies never;
  }
}

function open(world: World, command: Extract<Command, { do: 'open' }>, at: Date): void {
  const committed = committedMinor(world.cases);
  if (checkRefundable(world.facts, command.amountMinor, committed, at) !== null) return;
  const change = openCase(
    {
      ...command,
      policyBlockers: [...command.limits, ...(world.disputed ? (['PAYMENT_DISPUTED'] as const) : [])],
      merchantReviewDeadlineAt: new Date(at.getTime() + command.reviewHours * HOUR_MS),
    },
    at,
  );
  holds(change.refundCase);
  world.cases.push(change.refundCase);
}

function dispute(world: World, opens: boolean, at: Date): void {
  if (opens && checkDisputable(world.cases) !== null) return;
  world.disputed = opens;
  world.cases = world.cases.map((before) => {
    const result = opens ? blockDisputed(before, at) : unblockDisputed(before, at);
    return 'refused' in result ? before : checked(before, result);
  });
}

/** The amount that open and succeeded cases take of the payment. */
function committedMinor(cases: RefundCase[]): number {
  return cases
    .filter(({ status }) => !UNPAID.includes(status))
    .reduce((sum, { amountMinor }) => sum + amountMinor, 0);
}

/** Where no case of a disputed payment may stand: on the way to its money. */
function isOnTheWay({ status }: RefundCase): boolean {
  return ['APPROVED_FOR_EXECUTION', 'FUNDING_REQUIRED', 'PROCESSING'].includes(status);
}

const seen = new Set<string>();

function checked(before: RefundCase, { changes, events }: Change): RefundCase {
  if (Object.keys(changes).length === 0) return before; // a repetition
  const after = { ...before, ...changes };
  if (after.status !== before.status) {
    expect(TABLE[before.status]).toContain(after.status);
    expect(events.length).toBeGreaterThan(0);
    seen.add(`${before.status} → ${after.status}`);
  } else {
    expect(events).toEqual([]);
  }
  expect(CLOSED.includes(before.status) && before.status !== 'SUCCEEDED').toBe(false);
  expect(after.updatedAt >= before.updatedAt).toBe(true);
  expect(after.requestedAt).toEqual(before.requestedAt);
  expect(after.amountMinor).toBe(before.amountMinor);
  if (before.merchantDecision !== null) expect(after.merchantDecision).toEqual(before.merchantDecision);
  if (before.executionStartedAt !== null) expect(['PROCESSING', 'FUNDING_REQUIRED']).toContain(after.status);
  if (before.processingStartedAt !== null)
    expect(after.processingStartedAt).toEqual(before.processingStartedAt);
  else if (after.processingStartedAt !== null) expect(after.status).toBe('PROCESSING');
  holds(after);
  return after;
}

/** The invariants of one case. */
function holds(refundCase: RefundCase): void {
  const { status, blockedBy, merchantDecision, processingStartedAt } = refundCase;
  if (CLOSED.includes(status) || status === 'PROCESSING') expect(blockedBy).toEqual([]);
  expect(new Set(blockedBy).size).toBe(blockedBy.length);
  expect(status === 'FUNDING_REQUIRED').toBe(blockedBy.includes('INSUFFICIENT_AVAILABLE_BALANCE'));
  expect(processingStartedAt !== null).toBe(['PROCESSING', 'SUCCEEDED', 'FAILED'].includes(status));
  if (merchantDecision === null) expect(refundCase.merchantDecidedAt).toBeNull();
  else expect(refundCase.merchantDecidedAt === null).toBe(merchantDecision === 'EXPIRED');
  if (refundCase.merchantReviewDeadlineAt !== null) expect(refundCase.initiator).toBe('CUSTOMER');
  if (merchantDecision !== null) expect(refundCase.merchantReviewDeadlineAt).not.toBeNull();
  if (status === 'MERCHANT_REVIEW') expect(merchantDecision).toBeNull();
  if (status === 'APPROVED_FOR_EXECUTION' || status === 'FUNDING_REQUIRED') {
    const policy = ['REFUND_FREQUENCY_24H', 'REFUND_VOLUME_24H', 'PAYMENT_DISPUTED'];
    expect(blockedBy.filter((blocker) => policy.includes(blocker))).toEqual([]);
  }
  if (refundCase.executionStartedAt !== null) {
    expect(status).toBe('APPROVED_FOR_EXECUTION');
    expect(blockedBy).toEqual([]);
    expect(cancelCase(refundCase, new Date())).toHaveProperty('refused', 'REFUND_EXECUTION_STARTED');
  }
}

test('whatever the order of commands and clocks, a payment and its cases keep every invariant', () => {
  fc.assert(
    fc.property(
      payment,
      fc.array(step, { minLength: 5, maxLength: 60, size: 'max' }),
      ({ paidAmountMinor, refundWindowDays }, steps) => {
        const paidAt = new Date('2026-01-05T12:00:00.000Z');
        const none = { saleId: null, orderId: null, invoiceId: null };
        const world: World = {
          facts: { paidAmountMinor, paidAt, refundWindowDays, ...none },
          cases: [],
          disputed: false,
        };
        let now = paidAt.getTime();
        for (const { command, elapsedMs } of steps) {
          now = Math.max(now + elapsedMs, paidAt.getTime());
          const at = new Date(now);
          if (command.do === 'open') open(world, command, at);
          else if (command.do === 'dispute') dispute(world, command.opens, at);
          else {
            const index = command.of % Math.max(world.cases.length, 1);
            const before = world.cases[index];
            if (before === undefined) continue;
            const frozen = structuredClone(before);
            const result = act(before, command, at);
            expect(before).toEqual(frozen);
            if (!('refused' in result)) world.cases[index] = checked(before, result);
          }
          if (world.disputed) expect(world.cases.filter(isOnTheWay)).toEqual([]);
          const committed = committedMinor(world.cases);
          expect(Number.isSafeInteger(committed) && committed <= paidAmountMinor).toBe(true);
        }
      },
    ),
    { numRuns: RUNS },
  );
  const all = Object.entries(TABLE).flatMap(([from, tos]) => tos.map((to) => `${from} → ${to}`));
  expect([...seen].sort()).toEqual(all.sort());
});

test('a refund is accepted exactly when the payment still covers it, up to the largest amount', () => {
  const amount = fc.integer({ min: 1, max: 2 ** 53 - 1 });
  fc.assert(
    fc.property(amount, amount, amount, (paidAmountMinor, a, committed) => {
      fc.pre(committed <= paidAmountMinor);
      const paidAt = new Date(0);
      const none = { saleId: null, orderId: null, invoiceId: null };
      const refusal = checkRefundable(
        { paidAmountMinor, paidAt, refundWindowDays: 7, ...none },
        a,
        committed,
        paidAt,
      );
      const fits = BigInt(a) + BigInt(committed) <= BigInt(paidAmountMinor);
      expect(refusal?.refused ?? null).toBe(fits ? null : 'REFUND_EXCEEDS_PAYMENT');
    }),
    { numRuns: 2000 },
  );
});

test('the limits of 24 hours hold exactly at their edge', () => {
  fc.assert(
    fc.property(
      fc.nat(50),
      fc.nat(50),
      fc.bigInt(0n, 2n ** 60n),
      fc.maxSafeNat(),
      fc.integer({ min: 1 }),
      (count, maxCount24h, amountMinor, maxAmountMinor24h, amount) => {
        const blockers = limitBlockers(amount, { count, amountMinor }, { maxCount24h, maxAmountMinor24h });
        expect(blockers.includes('REFUND_FREQUENCY_24H')).toBe(count >= maxCount24h);
        expect(blockers.includes('REFUND_VOLUME_24H')).toBe(
          amountMinor > BigInt(maxAmountMinor24h) - BigInt(amount),
        );
      },
    ),
  );
});

test('facts that a later case repeats or leaves out are the same, any other is named', () => {
  const uuid = fc.option(fc.uuid());
  const facts = fc.record({
    paidAmountMinor: fc.integer({ min: 1, max: 5 }),
    paidAt: fc.date({ noInvalidDate: true }),
    refundWindowDays: fc.integer({ min: 7, max: 90 }),
    saleId: uuid,
    orderId: uuid,
    invoiceId: uuid,
  });
  fc.assert(
    fc.property(
      facts,
      fc.subarray([
        'paidAmountMinor',
        'paidAt',
        'refundWindowDays',
        'saleId',
        'orderId',
        'invoiceId',
      ] as const),
      facts,
      (fixed, named, other) => {
        const repeated = Object.fromEntries(named.map((fact) => [fact, structuredClone(fixed[fact])]));
        expect(checkPaymentFacts(fixed, repeated)).toBeNull();
        for (const fact of named) {
          const refusal = checkPaymentFacts(fixed, { ...repeated, [fact]: other[fact] });
          const same = JSON.stringify(other[fact]) === JSON.stringify(fixed[fact]);
          expect(refusal).toEqual(same ? null : { refused: 'PAYMENT_FACTS_DIFFER', metadata: { fact } });
        }
      },
    ),
  );
});
