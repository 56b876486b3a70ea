import { env } from 'node:process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HOUR_MS } from '../../../services/platform/durations.ts';
import { DomainError } from '../../../services/platform/errors.ts';
import {
  addBlockerToCase,
  blockDisputed,
  clearBlockerOfCase,
  recordDebit,
  recordOutcome,
  requireDisputable,
  startExecution,
  unblockDisputed,
} from '../../../services/refunds/execution/refund-execution.ts';
import {
  type PaymentFacts,
  requireRefundable,
  requireSameFacts,
} from '../../../services/refunds/payments/payment-facts.ts';
import type {
  Change,
  ManualBlocker,
  RefundCase,
  RefundStatus,
} from '../../../services/refunds/refund-case.ts';
import { limitBlockers } from '../../../services/refunds/refund-policy.ts';
import {
  announceDeadline,
  approveInReview,
  cancelCase,
  decideAsMerchant,
  expireReview,
  openCase,
  rejectInReview,
} from '../../../services/refunds/review/refund-review.ts';
import { propertyRuns } from '../../support/property-runs.ts';

/** The number of runs, repeated while a transition of the table has not occurred. */
const RUNS = 600;
const MAX_AMOUNT = 2n ** 53n - 1n;
const NO_IDS = { productId: null, saleId: null, orderId: null, invoiceId: null };

/** The transition table of the domain rules, kept separate from the code that makes the transitions. */
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
      amountMinor: fc.oneof(fc.bigInt(1n, 600n), fc.bigInt(1n, MAX_AMOUNT)),
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
  fc.record({
    do: fc.constant('announce' as const),
    ...target,
    noticeMs: fc.integer({ min: 1, max: 72 * HOUR_MS }),
  }),
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
      outcome: fc.constantFrom('SUBMITTED', 'REFUSED', 'SUCCEEDED', 'FAILED', 'SUCCEEDED', 'FAILED'),
    }),
  },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;
type CaseCommand = Exclude<Command, { do: 'open' | 'dispute' }>;

/** Time mostly passes, but sometimes a clock is behind. */
const step = fc.record({ command, elapsedMs: fc.integer({ min: -HOUR_MS, max: 12 * HOUR_MS }) });
const payment = fc.record({
  paidAmountMinor: fc.oneof(fc.bigInt(1n, 2000n), fc.constant(MAX_AMOUNT)),
  refundWindowDays: fc.integer({ min: 7, max: 90 }),
});

type Held = RefundCase & { amountMinor: bigint };
type World = { facts: PaymentFacts; cases: Held[]; disputed: boolean };

/** The result of the rules, or undefined if they refuse. */
function unlessRefused<T>(rule: () => T): T | undefined {
  try {
    return rule();
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}

function act(refundCase: RefundCase, command: CaseCommand, at: Date): Change {
  switch (command.do) {
    case 'decide':
      return decideAsMerchant(
        refundCase,
        { decision: command.decision, reason: 'because' },
        command.limits,
        at,
      );
    case 'expire':
      return expireReview(refundCase, at);
    case 'announce':
      return announceDeadline(refundCase, command.noticeMs, at);
    case 'approve':
      return approveInReview(refundCase, command.reviewer, at);
    case 'reject':
      return rejectInReview(refundCase, command.reviewer, at);
    case 'cancel':
      return cancelCase(refundCase, at);
    case 'addBlocker':
      return addBlockerToCase(refundCase, command.blocker, at);
    case 'clearBlocker':
      return clearBlockerOfCase(refundCase, command.blocker, at);
    case 'start':
      return startExecution(refundCase, at);
    case 'debit':
      return recordDebit(refundCase, command.outcome, at);
    case 'outcome':
      return recordOutcome(refundCase, command.outcome, { providerRefundId: 'pr_1' }, at);
    default:
      return command satisfies never;
  }
}

function open(world: World, command: Extract<Command, { do: 'open' }>, at: Date): void {
  const { amountMinor, limits } = command;
  requireRefundable(world.facts, amountMinor, committedMinor(world.cases), at);
  const policyBlockers = [...limits, ...(world.disputed ? (['PAYMENT_DISPUTED'] as const) : [])];
  const merchantReviewDeadlineAt = new Date(at.getTime() + command.reviewHours * HOUR_MS);
  const { refundCase } = openCase({ ...command, policyBlockers, merchantReviewDeadlineAt }, at);
  holds(refundCase);
  world.cases.push({ ...refundCase, amountMinor });
}

function dispute(world: World, opens: boolean, at: Date): void {
  if (opens) requireDisputable(world.cases);
  world.disputed = opens;
  world.cases = world.cases.map((before) => {
    const change = unlessRefused(() => (opens ? blockDisputed(before, at) : unblockDisputed(before, at)));
    return change === undefined ? before : checked(before, change);
  });
}

/** The amount that open and succeeded cases take of the payment. */
function committedMinor(cases: Held[]): bigint {
  return cases
    .filter(({ status }) => !UNPAID.includes(status))
    .reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
}

/** Whether a case is about to be paid, as no case of a disputed payment may be. */
function isOnTheWay({ status }: RefundCase): boolean {
  return ['APPROVED_FOR_EXECUTION', 'FUNDING_REQUIRED', 'PROCESSING'].includes(status);
}

const seen = new Set<string>();

function checked(before: Held, { changes, events }: Change): Held {
  if (Object.keys(changes).length === 0) return before; // a repetition
  const after = { ...before, ...changes };
  if (after.status !== before.status) {
    expect(TABLE[before.status]).toContain(after.status);
    expect(events.length).toBeGreaterThan(0);
    seen.add(`${before.status} → ${after.status}`);
  } else if (changes.deadlineNotifiedAt) {
    expect(events).toEqual(['refund.deadline_approaching.v1']);
    expect(before).toMatchObject({ status: 'MERCHANT_REVIEW', deadlineNotifiedAt: null });
    expect(changes.deadlineNotifiedAt < before.merchantReviewDeadlineAt!).toBe(true);
  } else {
    expect(events).toEqual([]);
  }
  expect(CLOSED.includes(before.status) && before.status !== 'SUCCEEDED').toBe(false);
  expect(after.updatedAt >= before.updatedAt).toBe(true);
  expect(after.requestedAt).toEqual(before.requestedAt);
  const sinceWhen = after.status === before.status ? before.statusChangedAt : after.updatedAt;
  expect(after.statusChangedAt).toEqual(sinceWhen);
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
    expect(unlessRefused(() => cancelCase(refundCase, new Date()))).toBeUndefined();
  }
}

test('any order of commands and clocks keeps every invariant of a payment and its cases', () => {
  const property = fc.property(
    payment,
    fc.array(step, { minLength: 5, maxLength: 60, size: 'max' }),
    ({ paidAmountMinor, refundWindowDays }, steps) => {
      const paidAt = new Date('2026-01-05T12:00:00.000Z');
      const world: World = {
        facts: { paidAmountMinor, paidAt, refundWindowDays, ...NO_IDS },
        cases: [],
        disputed: false,
      };
      let now = paidAt.getTime();
      for (const { command, elapsedMs } of steps) {
        now = Math.max(now + elapsedMs, paidAt.getTime());
        const at = new Date(now);
        if (command.do === 'open') unlessRefused(() => open(world, command, at));
        else if (command.do === 'dispute') unlessRefused(() => dispute(world, command.opens, at));
        else {
          const index = command.of % Math.max(world.cases.length, 1);
          const before = world.cases[index];
          if (before === undefined) continue;
          const frozen = structuredClone(before);
          const change = unlessRefused(() => act(before, command, at));
          expect(before).toEqual(frozen);
          if (change !== undefined) world.cases[index] = checked(before, change);
        }
        if (world.disputed) expect(world.cases.filter(isOnTheWay)).toEqual([]);
        expect(committedMinor(world.cases) <= paidAmountMinor).toBe(true);
      }
    },
  );
  if (env.FC_RUNS) return void fc.assert(property, { numRuns: propertyRuns(RUNS) });
  const all = Object.entries(TABLE).flatMap(([from, tos]) => tos.map((to) => `${from} → ${to}`));
  for (let tries = 0; tries < 5 && (tries === 0 || seen.size < all.length); tries += 1) {
    fc.assert(property, { numRuns: RUNS });
  }
  expect([...seen].sort()).toEqual(all.sort());
});

test('a refund is accepted exactly when the payment still covers it, up to the largest amount', () => {
  const amount = fc.bigInt(1n, MAX_AMOUNT);
  fc.assert(
    fc.property(amount, amount, amount, (paidAmountMinor, amountMinor, committedMinor) => {
      fc.pre(committedMinor <= paidAmountMinor);
      const facts = { paidAmountMinor, paidAt: new Date(0), refundWindowDays: 7, ...NO_IDS };
      const rule = () => requireRefundable(facts, amountMinor, committedMinor, new Date(0)) ?? 'accepted';
      const fits = amountMinor + committedMinor <= paidAmountMinor;
      expect(unlessRefused(rule)).toBe(fits ? 'accepted' : undefined);
    }),
    { numRuns: propertyRuns(2000) },
  );
});

test('the 24-hour limits apply exactly at their boundary', () => {
  const amount = fc.oneof(fc.bigInt(1n, 40n), fc.bigInt(1n, 2n ** 60n));
  fc.assert(
    fc.property(
      fc.nat(50),
      fc.nat(50),
      amount,
      amount,
      amount,
      (count, max, recent, maxAmount, amountMinor) => {
        const limits = { maxCount24h: max, maxAmountMinor24h: maxAmount };
        const blockers = limitBlockers(amountMinor, { count, amountMinor: recent }, limits);
        expect(blockers.includes('REFUND_FREQUENCY_24H')).toBe(count >= max);
        expect(blockers.includes('REFUND_VOLUME_24H')).toBe(recent > maxAmount - amountMinor);
      },
    ),
  );
});

test('facts that a later case repeats or omits are accepted, any other is reported', () => {
  const uuid = fc.option(fc.uuid());
  const facts = fc.record({
    paidAmountMinor: fc.bigInt(1n, 5n),
    paidAt: fc.option(fc.date({ noInvalidDate: true })),
    refundWindowDays: fc.option(fc.integer({ min: 7, max: 90 })),
    productId: uuid,
    saleId: uuid,
    orderId: uuid,
    invoiceId: uuid,
  });
  const names = [
    'paidAmountMinor',
    'paidAt',
    'refundWindowDays',
    'productId',
    'saleId',
    'orderId',
    'invoiceId',
  ] as const;
  fc.assert(
    fc.property(facts, fc.subarray([...names]), facts, (fixed, named, other) => {
      const repeated = Object.fromEntries(named.map((fact) => [fact, structuredClone(fixed[fact])]));
      expect(() => requireSameFacts(fixed, repeated)).not.toThrow();
      for (const fact of named) {
        const differs = String(other[fact]?.valueOf()) !== String(fixed[fact]?.valueOf());
        const rule = expect(() => requireSameFacts(fixed, { ...repeated, [fact]: other[fact] }));
        const message = `${fact} differs from the payment's first refund case or dispute`;
        const refusal = { reason: 'PAYMENT_FACTS_DIFFER', message, metadata: { fact } };
        if (differs) rule.toThrow(expect.objectContaining(refusal));
        else rule.not.toThrow();
      }
    }),
  );
});
