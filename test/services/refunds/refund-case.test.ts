import { describe, expect, test } from 'vitest';
import { HOUR_MS } from '../../../services/platform/durations.ts';
import { DomainError } from '../../../services/platform/errors.ts';
import {
  addBlockerToCase,
  awaitsExecution,
  beginExecution,
  blockDisputed,
  clearBlockerOfCase,
  isPaidUndebited,
  recordDebit,
  recordOutcome,
  requireDisputable,
  startExecution,
} from '../../../services/refunds/execution/refund-execution.ts';
import {
  type Change,
  eventsOfStatus,
  isClosed,
  type RefundCase,
  type RefundStatus,
} from '../../../services/refunds/refund-case.ts';
import {
  announceDeadline,
  approveInReview,
  cancelCase,
  decideAsMerchant,
  expireReview,
  type Opening,
  openCase,
  rejectInReview,
} from '../../../services/refunds/review/refund-review.ts';

const noon = new Date('2026-03-02T12:00:00.000Z');
const later = new Date('2026-03-02T13:00:00.000Z');
const deadline = new Date('2026-03-05T12:00:00.000Z');
const opening: Opening = {
  initiator: 'CUSTOMER',
  approvalMode: null,
  policyBlockers: [],
  merchantReviewDeadlineAt: deadline,
};

/** The case after a rule. */
function afterRule<Args extends unknown[]>(
  before: RefundCase,
  rule: (refundCase: RefundCase, ...args: Args) => Change,
  ...args: Args
) {
  const { changes, events } = rule(before, ...args);
  return { refundCase: { ...before, ...changes }, events };
}

/** The refusal of a rule. */
function refusal(rule: () => unknown) {
  try {
    rule();
  } catch (error) {
    if (error instanceof DomainError) return { reason: error.reason, metadata: error.metadata };
    throw error;
  }
  return undefined;
}

function opened(overrides: Partial<Opening> = {}): RefundCase {
  return openCase({ ...opening, ...overrides }, noon).refundCase;
}

function executing(): RefundCase {
  return afterRule(opened({ initiator: 'MERCHANT' }), startExecution, noon).refundCase;
}

describe('the first status of a case', () => {
  test.each([
    [{}, 'MERCHANT_REVIEW', []],
    [{ approvalMode: 'OPERATIONS' }, 'MERCHANT_REVIEW', []],
    [{ initiator: 'MERCHANT' }, 'APPROVED_FOR_EXECUTION', ['refund.approved.v1']],
    [{ approvalMode: 'INSTANT' }, 'APPROVED_FOR_EXECUTION', ['refund.approved.v1']],
    [
      { approvalMode: 'INSTANT', policyBlockers: ['PAYMENT_DISPUTED'] },
      'SERVICE_REVIEW',
      ['refund.review_started.v1'],
    ],
    [
      { initiator: 'MERCHANT', policyBlockers: ['REFUND_VOLUME_24H'] },
      'SERVICE_REVIEW',
      ['refund.review_started.v1'],
    ],
  ] as [Partial<Opening>, string, string[]][])('%o starts in %s', (overrides, status, further) => {
    const { refundCase, events } = openCase({ ...opening, ...overrides }, noon);
    expect(refundCase.status).toBe(status);
    expect(events).toEqual(['refund.requested.v1', ...further]);
    expect(refundCase.merchantReviewDeadlineAt).toEqual(status === 'MERCHANT_REVIEW' ? deadline : null);
  });
});

describe("the merchant's review", () => {
  test('an approval sends the case to execution and records when and why', () => {
    const { refundCase, events } = afterRule(
      opened(),
      decideAsMerchant,
      { decision: 'APPROVED', reason: 'agreed' },
      [],
      later,
    );
    expect(refundCase).toMatchObject({
      status: 'APPROVED_FOR_EXECUTION',
      merchantDecision: 'APPROVED',
      merchantDecidedAt: later,
      merchantDecisionReason: 'agreed',
      updatedAt: later,
    });
    expect(events).toEqual(['refund.merchant_decided.v1', 'refund.approved.v1']);
  });

  test('an approval beyond the 24-hour limits sends the case to review, blocked by them', () => {
    const { refundCase } = afterRule(
      opened(),
      decideAsMerchant,
      { decision: 'APPROVED', reason: null },
      ['REFUND_VOLUME_24H'],
      later,
    );
    expect(refundCase).toMatchObject({ status: 'SERVICE_REVIEW', blockedBy: ['REFUND_VOLUME_24H'] });
  });

  test('a dispute leaves the case with the merchant, whose approval then goes to review', () => {
    const disputed = afterRule(opened(), blockDisputed, later);
    expect(disputed.events).toEqual([]);
    expect(disputed.refundCase.status).toBe('MERCHANT_REVIEW');
    const { refundCase } = afterRule(
      disputed.refundCase,
      decideAsMerchant,
      { decision: 'APPROVED', reason: null },
      [],
      later,
    );
    expect(refundCase).toMatchObject({ status: 'SERVICE_REVIEW', blockedBy: ['PAYMENT_DISPUTED'] });
  });

  test('can expire exactly from the deadline on', () => {
    const before = new Date(deadline.getTime() - 1);
    expect(refusal(() => expireReview(opened(), before))).toEqual({
      reason: 'MERCHANT_REVIEW_NOT_DUE',
      metadata: { merchantReviewDeadlineAt: deadline.toISOString() },
    });
    const { refundCase, events } = afterRule(opened(), expireReview, deadline);
    expect(refundCase).toMatchObject({ merchantDecision: 'EXPIRED', merchantDecidedAt: null });
    expect(events).toEqual(['refund.merchant_decided.v1', 'refund.review_started.v1']);
  });

  test('decision and deadline: the first wins, the second finds its result', () => {
    const decided = afterRule(
      opened(),
      decideAsMerchant,
      { decision: 'CONTESTED', reason: null },
      [],
      deadline,
    ).refundCase;
    expect(refusal(() => expireReview(decided, deadline))).toEqual({
      reason: 'REFUND_CASE_STATE',
      metadata: { state: 'SERVICE_REVIEW' },
    });
    const expired = afterRule(opened(), expireReview, deadline).refundCase;
    expect(
      refusal(() => decideAsMerchant(expired, { decision: 'APPROVED', reason: null }, [], deadline))?.reason,
    ).toBe('REFUND_CASE_STATE');
  });
});

describe("the announcement of the merchant's deadline", () => {
  const earlier = (date: Date, milliseconds: number) => new Date(date.getTime() - milliseconds);

  test('is made before the deadline, once, and does not change the status', () => {
    const notice = earlier(deadline, 24 * HOUR_MS);
    expect(refusal(() => announceDeadline(opened(), 24 * HOUR_MS, earlier(notice, 1)))).toEqual({
      reason: 'DEADLINE_NOTICE_NOT_DUE',
      metadata: { state: 'MERCHANT_REVIEW', noticeAt: notice.toISOString() },
    });
    const { refundCase, events } = afterRule(opened(), announceDeadline, 24 * HOUR_MS, notice);
    expect(events).toEqual(['refund.deadline_approaching.v1']);
    expect(refundCase).toEqual({ ...opened(), deadlineNotifiedAt: notice });
    expect(announceDeadline(refundCase, 24 * HOUR_MS, later)).toEqual({ changes: {}, events: [] });
  });

  test('is made halfway through a review that is no longer than the notice', () => {
    const short = opened({ merchantReviewDeadlineAt: new Date(noon.getTime() + 24 * HOUR_MS) });
    const middle = new Date(noon.getTime() + 12 * HOUR_MS);
    expect(refusal(() => announceDeadline(short, 24 * HOUR_MS, earlier(middle, 1)))?.metadata.noticeAt).toBe(
      middle.toISOString(),
    );
    expect(announceDeadline(short, 24 * HOUR_MS, middle).events).toHaveLength(1);
  });

  test('is not made after the deadline, nor for a case that has left the review', () => {
    expect(announceDeadline(opened(), HOUR_MS, deadline)).toEqual({ changes: {}, events: [] });
    const decided = afterRule(
      opened(),
      decideAsMerchant,
      { decision: 'CONTESTED', reason: null },
      [],
      later,
    ).refundCase;
    expect(refusal(() => announceDeadline(decided, HOUR_MS, deadline))).toEqual({
      reason: 'REFUND_CASE_STATE',
      metadata: { state: 'SERVICE_REVIEW' },
    });
  });
});

describe('the service review', () => {
  test('an approval overrides the limits but not the blockers of other teams', () => {
    const held = afterRule(
      opened({ policyBlockers: ['REFUND_FREQUENCY_24H'] }),
      addBlockerToCase,
      'KYC_NOT_APPROVED',
      noon,
    );
    const { refundCase } = afterRule(held.refundCase, approveInReview, 'OPERATIONS', later);
    expect(refundCase).toMatchObject({
      status: 'APPROVED_FOR_EXECUTION',
      approvalMode: 'OPERATIONS',
      blockedBy: ['KYC_NOT_APPROVED'],
    });
    expect(refusal(() => startExecution(refundCase, later))).toEqual({
      reason: 'REFUND_CASE_BLOCKED',
      metadata: { state: 'APPROVED_FOR_EXECUTION', blockedBy: 'KYC_NOT_APPROVED' },
    });
    const cleared = afterRule(refundCase, clearBlockerOfCase, 'KYC_NOT_APPROVED', later).refundCase;
    expect(startExecution(cleared, later).changes).toMatchObject({
      executionStartedAt: later,
      executions: 1,
    });
  });

  test('an open dispute is not overridden, but the refund can be rejected', () => {
    const disputed = opened({ policyBlockers: ['PAYMENT_DISPUTED'] });
    expect(refusal(() => approveInReview(disputed, 'RISK_POLICY', later))?.reason).toBe(
      'REFUND_CASE_BLOCKED',
    );
    const { refundCase, events } = afterRule(disputed, rejectInReview, 'RISK_POLICY', later);
    expect(refundCase).toMatchObject({ status: 'REJECTED', approvalMode: 'RISK_POLICY', blockedBy: [] });
    expect(events).toEqual(['refund.rejected.v1']);
  });
});

describe('execution', () => {
  test('once started, refuses cancel, dispute, blocker and a second start', () => {
    const started = executing();
    expect(started.status).toBe('APPROVED_FOR_EXECUTION');
    const tries = [
      () => cancelCase(started, later),
      () => requireDisputable([opened(), started]),
      () => startExecution(started, later),
      () => addBlockerToCase(started, 'KYC_NOT_APPROVED', later),
      () => blockDisputed(started, later),
    ];
    for (const attempt of tries) {
      expect(refusal(attempt)).toEqual({
        reason: 'REFUND_EXECUTION_STARTED',
        metadata: { state: 'APPROVED_FOR_EXECUTION' },
      });
    }
  });

  test('begins by its number: once, and only the next one of a case that awaits it', () => {
    const approved = opened({ initiator: 'MERCHANT' });
    expect([opened(), approved, executing()].map(awaitsExecution)).toEqual([false, true, false]);
    const blocked = afterRule(approved, addBlockerToCase, 'KYC_NOT_APPROVED', noon).refundCase;
    expect(awaitsExecution(blocked)).toBe(false);
    expect(beginExecution(approved, 1, later)).toEqual(startExecution(approved, later));
    expect(beginExecution(executing(), 1, later)).toEqual({ changes: {}, events: [] });
    expect(refusal(() => beginExecution(approved, 2, later))?.reason).toBe('REFUND_EXECUTION_NOT_CURRENT');
  });

  test('is paid without a debit if the provider reports a success in any other status than those of a debit', () => {
    const isUndebited = (status: RefundStatus, outcome: 'SUCCEEDED' | 'FAILED') =>
      isPaidUndebited({ ...executing(), status }, outcome);
    const statuses = ['APPROVED_FOR_EXECUTION', 'PROCESSING', 'SUCCEEDED', 'FAILED'] as const;
    expect(statuses.map((status) => isUndebited(status, 'SUCCEEDED'))).toEqual([true, false, false, true]);
    expect(isUndebited('FAILED', 'FAILED')).toBe(false);
  });

  test('an insufficient balance requires funding; a later start tries again', () => {
    const { refundCase: unfunded, events } = afterRule(executing(), recordDebit, 'INSUFFICIENT', later);
    expect(unfunded).toMatchObject({
      status: 'FUNDING_REQUIRED',
      blockedBy: ['INSUFFICIENT_AVAILABLE_BALANCE'],
    });
    expect(events).toEqual(['refund.funding_required.v1']);
    const again = afterRule(unfunded, startExecution, later);
    expect(again.refundCase).toMatchObject({ status: 'APPROVED_FOR_EXECUTION', blockedBy: [] });
    const debited = afterRule(again.refundCase, recordDebit, 'DEBITED', later);
    expect(debited.events).toEqual(['refund.processing.v1']);
    expect(refusal(() => cancelCase(debited.refundCase, later))?.reason).toBe('REFUND_EXECUTION_STARTED');
  });

  test('a dispute sends a case that waits for funds to review, without the balance blocker', () => {
    const unfunded = afterRule(executing(), recordDebit, 'INSUFFICIENT', later).refundCase;
    const { refundCase } = afterRule(unfunded, blockDisputed, later);
    expect(refundCase).toMatchObject({ status: 'SERVICE_REVIEW', blockedBy: ['PAYMENT_DISPUTED'] });
  });

  test('a debit recorded again has no effect, and another outcome is refused', () => {
    const processing = afterRule(executing(), recordDebit, 'DEBITED', later).refundCase;
    expect(recordDebit(processing, 'DEBITED', deadline)).toEqual({ changes: {}, events: [] });
    expect(refusal(() => recordDebit(processing, 'INSUFFICIENT', deadline))?.reason).toBe(
      'REFUND_EXECUTION_NOT_STARTED',
    );
    expect(refusal(() => recordDebit(opened(), 'DEBITED', later))?.reason).toBe(
      'REFUND_EXECUTION_NOT_STARTED',
    );
    const unfunded = afterRule(executing(), recordDebit, 'INSUFFICIENT', later).refundCase;
    expect(recordDebit(unfunded, 'INSUFFICIENT', deadline)).toEqual({ changes: {}, events: [] });
  });

  test('a debit of another execution than the one in progress is refused', () => {
    for (const execution of [0, 2]) {
      expect(refusal(() => recordDebit(executing(), 'DEBITED', later, execution))).toEqual({
        reason: 'REFUND_EXECUTION_NOT_CURRENT',
        metadata: { state: 'APPROVED_FOR_EXECUTION', executions: '1' },
      });
    }
  });

  test('the provider submits, succeeds and returns late, once', () => {
    const processing = afterRule(executing(), recordDebit, 'DEBITED', noon).refundCase;
    const reported = {
      providerRefundId: 'pr_1',
      providerSubmissionStatus: 'accepted',
      providerSubmittedAt: noon,
    };
    const submitted = afterRule(processing, recordOutcome, 'SUBMITTED', reported, later);
    expect(submitted).toMatchObject({ refundCase: { status: 'PROCESSING', ...reported }, events: [] });
    const succeeded = afterRule(submitted.refundCase, recordOutcome, 'SUCCEEDED', {}, later);
    expect(succeeded.refundCase).toMatchObject(reported);
    expect(refusal(() => recordOutcome(succeeded.refundCase, 'SUCCEEDED', {}, later))?.reason).toBe(
      'REFUND_CASE_STATE',
    );
    const returned = afterRule(succeeded.refundCase, recordOutcome, 'FAILED', {}, later);
    expect(returned.events).toEqual(['refund.failed.v1']);
    expect(refusal(() => recordOutcome(returned.refundCase, 'FAILED', {}, later))?.reason).toBe(
      'REFUND_CASE_STATE',
    );
  });
});

describe('the report on a submission', () => {
  const processing = () => afterRule(executing(), recordDebit, 'DEBITED', noon).refundCase;
  const report = {
    providerRefundId: 'pr_1',
    providerSubmissionStatus: 'accepted',
    providerSubmittedAt: noon,
  };

  test('that has no news counts as a sign of life and changes nothing else', () => {
    const { refundCase } = afterRule(processing(), recordOutcome, 'SUBMITTED', report, noon);
    const repeated = { providerRefundId: 'pr_1', providerSubmittedAt: new Date(noon) };
    expect(recordOutcome(refundCase, 'SUBMITTED', repeated, later)).toEqual({
      changes: { providerReportedAt: later },
      events: [],
    });
    const news = [
      { providerRefundId: 'pr_2' },
      { providerSubmissionStatus: 'settled' },
      { providerSubmittedAt: later },
    ];
    for (const reported of news) {
      expect(recordOutcome(refundCase, 'SUBMITTED', reported, later).changes).toEqual({
        ...reported,
        providerReportedAt: later,
        updatedAt: later,
      });
    }
    const alive = { ...refundCase, providerReportedAt: later };
    expect(recordOutcome(alive, 'SUBMITTED', {}, noon).changes).toEqual({ providerReportedAt: later });
  });

  test.each(['SUCCEEDED', 'FAILED'] as const)('after %s adds what is missing, and once', (outcome) => {
    const reported = { providerSubmissionStatus: 'settled' };
    const ended = afterRule(processing(), recordOutcome, outcome, reported, noon).refundCase;
    const { changes, events } = recordOutcome(ended, 'SUBMITTED', report, later);
    expect({ ...ended, ...changes }).toEqual({ ...ended, ...report, ...reported, updatedAt: later });
    expect(events).toEqual([]);
    const known = { ...ended, ...changes };
    const other = { ...report, providerRefundId: 'pr_2', providerSubmittedAt: later };
    expect(recordOutcome(known, 'SUBMITTED', other, later)).toEqual({ changes: {}, events: [] });
  });

  test('that refuses it fails the refund, but is not a late return', () => {
    const refused = afterRule(processing(), recordOutcome, 'REFUSED', {}, later);
    expect(refused).toMatchObject({ refundCase: { status: 'FAILED' }, events: ['refund.failed.v1'] });
    const succeeded = afterRule(processing(), recordOutcome, 'SUCCEEDED', {}, later).refundCase;
    expect(refusal(() => recordOutcome(succeeded, 'REFUSED', {}, later))?.reason).toBe('REFUND_CASE_STATE');
  });
});

describe('a status', () => {
  const states = {
    MERCHANT_REVIEW: { event: undefined, closed: false },
    SERVICE_REVIEW: { event: 'refund.review_started.v1', closed: false },
    APPROVED_FOR_EXECUTION: { event: 'refund.approved.v1', closed: false },
    FUNDING_REQUIRED: { event: 'refund.funding_required.v1', closed: false },
    PROCESSING: { event: 'refund.processing.v1', closed: false },
    SUCCEEDED: { event: 'refund.succeeded.v1', closed: true },
    FAILED: { event: 'refund.failed.v1', closed: true },
    CANCELED: { event: 'refund.canceled.v1', closed: true },
    REJECTED: { event: 'refund.rejected.v1', closed: true },
  } satisfies Record<RefundStatus, object>;

  test.each(Object.entries(states))(
    'of %s has its event, and is open or closed',
    (name, { event, closed }) => {
      const status = name as RefundStatus;
      expect(eventsOfStatus(status)).toEqual(event === undefined ? [] : [event]);
      expect(isClosed({ ...opened(), status })).toBe(closed);
    },
  );
});
