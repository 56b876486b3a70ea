import { describe, expect, test } from 'vitest';
import { checkRefundable, refundWindowExpiresAt } from '../../../services/refunds/payment-facts.ts';
import type { Change, RefundCase, Refusal } from '../../../services/refunds/refund-case.ts';
import {
  addBlocker,
  blockDisputed,
  checkDisputable,
  clearBlocker,
  recordDebit,
  recordProviderOutcome,
  startExecution,
} from '../../../services/refunds/refund-execution.ts';
import {
  approveInReview,
  cancelCase,
  decideAsMerchant,
  expireMerchantReview,
  type Opening,
  openCase,
  rejectInReview,
} from '../../../services/refunds/refund-review.ts';

const noon = new Date('2026-03-02T12:00:00.000Z');
const later = new Date('2026-03-02T13:00:00.000Z');
const deadline = new Date('2026-03-05T12:00:00.000Z');
const opening: Opening = {
  amountMinor: 1000,
  initiator: 'CUSTOMER',
  approvalMode: null,
  policyBlockers: [],
  merchantReviewDeadlineAt: deadline,
};

/** The case as a rule leaves it. */
function after<Args extends unknown[]>(
  before: RefundCase,
  rule: (refundCase: RefundCase, ...args: Args) => Change | Refusal,
  ...args: Args
) {
  const result = rule(before, ...args);
  if ('refused' in result) throw new Error(`refused: ${result.refused}`);
  return { refundCase: { ...before, ...result.changes }, events: result.events };
}

function refused(result: Change | Refusal | null): string | null {
  return result !== null && 'refused' in result ? result.refused : null;
}

function opened(overrides: Partial<Opening> = {}): RefundCase {
  return openCase({ ...opening, ...overrides }, noon).refundCase;
}

function executing(): RefundCase {
  return after(opened({ initiator: 'MERCHANT' }), startExecution, noon).refundCase;
}

describe('where a case starts', () => {
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
  ] as [Partial<Opening>, string, string[]][])('%o starts in %s', (overrides, status, told) => {
    const { refundCase, events } = openCase({ ...opening, ...overrides }, noon);
    expect(refundCase.status).toBe(status);
    expect(events).toEqual(['refund.requested.v1', ...told]);
    expect(refundCase.merchantReviewDeadlineAt).toEqual(status === 'MERCHANT_REVIEW' ? deadline : null);
  });
});

describe("the merchant's review", () => {
  test('an approval sends the case to execution and keeps when and why', () => {
    const { refundCase, events } = after(opened(), decideAsMerchant, 'APPROVED', 'agreed', [], later);
    expect(refundCase).toMatchObject({
      status: 'APPROVED_FOR_EXECUTION',
      merchantDecision: 'APPROVED',
      merchantDecidedAt: later,
      merchantDecisionReason: 'agreed',
      updatedAt: later,
    });
    expect(events).toEqual(['refund.merchant_decided.v1', 'refund.approved.v1']);
  });

  test('an approval beyond the limits of 24 hours goes to review, blocked by them', () => {
    const { refundCase } = after(opened(), decideAsMerchant, 'APPROVED', null, ['REFUND_VOLUME_24H'], later);
    expect(refundCase).toMatchObject({ status: 'SERVICE_REVIEW', blockedBy: ['REFUND_VOLUME_24H'] });
  });

  test('a dispute leaves the case with the merchant, whose approval then goes to review', () => {
    const disputed = after(opened(), blockDisputed, later);
    expect(disputed.events).toEqual([]);
    expect(disputed.refundCase.status).toBe('MERCHANT_REVIEW');
    const { refundCase } = after(disputed.refundCase, decideAsMerchant, 'APPROVED', null, [], later);
    expect(refundCase).toMatchObject({ status: 'SERVICE_REVIEW', blockedBy: ['PAYMENT_DISPUTED'] });
  });

  test('the deadline decides from its very moment on, and not before', () => {
    const before = new Date(deadline.getTime() - 1);
    expect(expireMerchantReview(opened(), before)).toMatchObject({
      refused: 'MERCHANT_REVIEW_NOT_DUE',
      metadata: { merchantReviewDeadlineAt: deadline.toISOString() },
    });
    const { refundCase, events } = after(opened(), expireMerchantReview, deadline);
    expect(refundCase).toMatchObject({ merchantDecision: 'EXPIRED', merchantDecidedAt: null });
    expect(events).toEqual(['refund.merchant_decided.v1', 'refund.review_started.v1']);
  });

  test('decision and deadline: the first wins, the second meets the state it left', () => {
    const decided = after(opened(), decideAsMerchant, 'CONTESTED', null, [], deadline).refundCase;
    expect(expireMerchantReview(decided, deadline)).toEqual({
      refused: 'REFUND_CASE_STATE',
      metadata: { status: 'SERVICE_REVIEW' },
    });
    const expired = after(opened(), expireMerchantReview, deadline).refundCase;
    expect(refused(decideAsMerchant(expired, 'APPROVED', null, [], deadline))).toBe('REFUND_CASE_STATE');
  });
});

describe('the service review', () => {
  test('an approval overrides the limits and leaves the holds of other teams', () => {
    const held = after(
      opened({ policyBlockers: ['REFUND_FREQUENCY_24H'] }),
      addBlocker,
      'KYC_NOT_APPROVED',
      noon,
    );
    const { refundCase } = after(held.refundCase, approveInReview, 'OPERATIONS', later);
    expect(refundCase).toMatchObject({
      status: 'APPROVED_FOR_EXECUTION',
      approvalMode: 'OPERATIONS',
      blockedBy: ['KYC_NOT_APPROVED'],
    });
    expect(startExecution(refundCase, later)).toEqual({
      refused: 'REFUND_CASE_BLOCKED',
      metadata: { status: 'APPROVED_FOR_EXECUTION', blockedBy: 'KYC_NOT_APPROVED' },
    });
    const cleared = after(refundCase, clearBlocker, 'KYC_NOT_APPROVED', later).refundCase;
    expect(refused(startExecution(cleared, later))).toBeNull();
  });

  test('an open dispute is not overridden, but the refund can be rejected', () => {
    const disputed = opened({ policyBlockers: ['PAYMENT_DISPUTED'] });
    expect(refused(approveInReview(disputed, 'RISK_POLICY', later))).toBe('REFUND_CASE_BLOCKED');
    const { refundCase, events } = after(disputed, rejectInReview, 'RISK_POLICY', later);
    expect(refundCase).toMatchObject({ status: 'REJECTED', approvalMode: 'RISK_POLICY', blockedBy: [] });
    expect(events).toEqual(['refund.rejected.v1']);
  });
});

describe('execution', () => {
  test('once started, neither cancel nor dispute nor blocker nor a second start is possible', () => {
    const started = executing();
    expect(started.status).toBe('APPROVED_FOR_EXECUTION');
    const tries = [
      cancelCase(started, later),
      checkDisputable([opened(), started]),
      startExecution(started, later),
    ];
    for (const result of [
      ...tries,
      addBlocker(started, 'KYC_NOT_APPROVED', later),
      blockDisputed(started, later),
    ]) {
      expect(result).toEqual({
        refused: 'REFUND_EXECUTION_STARTED',
        metadata: { status: 'APPROVED_FOR_EXECUTION' },
      });
    }
  });

  test('a balance that does not suffice asks for funding; a later start tries again', () => {
    const { refundCase: unfunded, events } = after(executing(), recordDebit, 'INSUFFICIENT', later);
    expect(unfunded).toMatchObject({
      status: 'FUNDING_REQUIRED',
      blockedBy: ['INSUFFICIENT_AVAILABLE_BALANCE'],
    });
    expect(events).toEqual(['refund.funding_required.v1']);
    const again = after(unfunded, startExecution, later);
    expect(again.refundCase).toMatchObject({ status: 'APPROVED_FOR_EXECUTION', blockedBy: [] });
    const debited = after(again.refundCase, recordDebit, 'DEBITED', later);
    expect(debited.events).toEqual(['refund.processing.v1']);
    expect(refused(cancelCase(debited.refundCase, later))).toBe('REFUND_EXECUTION_STARTED');
  });

  test('a dispute takes a case that waits for funds to review, without the balance blocker', () => {
    const unfunded = after(executing(), recordDebit, 'INSUFFICIENT', later).refundCase;
    const { refundCase } = after(unfunded, blockDisputed, later);
    expect(refundCase).toMatchObject({ status: 'SERVICE_REVIEW', blockedBy: ['PAYMENT_DISPUTED'] });
  });

  test('a debit recorded again changes nothing, another outcome than the recorded one is refused', () => {
    const processing = after(executing(), recordDebit, 'DEBITED', later).refundCase;
    expect(recordDebit(processing, 'DEBITED', deadline)).toEqual({ changes: {}, events: [] });
    expect(refused(recordDebit(processing, 'INSUFFICIENT', deadline))).toBe('REFUND_EXECUTION_NOT_STARTED');
    expect(refused(recordDebit(opened(), 'DEBITED', later))).toBe('REFUND_EXECUTION_NOT_STARTED');
  });

  test('the provider submits, succeeds and returns late, once', () => {
    const processing = after(executing(), recordDebit, 'DEBITED', noon).refundCase;
    const told = {
      providerRefundId: 'pr_1',
      providerSubmissionStatus: 'accepted',
      providerSubmittedAt: noon,
    };
    const submitted = after(processing, recordProviderOutcome, 'SUBMITTED', told, later);
    expect(submitted).toMatchObject({ refundCase: { status: 'PROCESSING', ...told }, events: [] });
    const succeeded = after(submitted.refundCase, recordProviderOutcome, 'SUCCEEDED', {}, later);
    expect(succeeded.refundCase).toMatchObject(told);
    expect(refused(recordProviderOutcome(succeeded.refundCase, 'SUCCEEDED', {}, later))).toBe(
      'REFUND_CASE_STATE',
    );
    const returned = after(succeeded.refundCase, recordProviderOutcome, 'FAILED', {}, later);
    expect(returned.events).toEqual(['refund.failed.v1']);
    expect(refused(recordProviderOutcome(returned.refundCase, 'FAILED', {}, later))).toBe(
      'REFUND_CASE_STATE',
    );
  });
});

describe('the payment', () => {
  const facts = {
    paidAmountMinor: 1000,
    paidAt: noon,
    refundWindowDays: 7,
    saleId: null,
    orderId: null,
    invoiceId: null,
  };
  const end = new Date('2026-03-09T12:00:00.000Z');

  test('can be refunded up to the last millisecond of its window', () => {
    expect(refundWindowExpiresAt(facts)).toEqual(end);
    expect(checkRefundable(facts, 1, 0, end)).toBeNull();
    expect(checkRefundable(facts, 1, 0, new Date(end.getTime() + 1))).toMatchObject({
      refused: 'REFUND_WINDOW_EXPIRED',
    });
  });

  test('cannot be refunded before it was paid', () => {
    expect(checkRefundable(facts, 1, 0, new Date(noon.getTime() - 1))).toMatchObject({
      refused: 'PAID_AT_IN_FUTURE',
    });
  });

  test('has no window where its time is not known', () => {
    expect(refundWindowExpiresAt({ ...facts, paidAt: null })).toBeNull();
    expect(checkRefundable({ ...facts, paidAt: null }, 1000, 0, new Date('2030-01-01'))).toBeNull();
  });
});
