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

function accepted(result: Change | Refusal): Change {
  if ('refused' in result) throw new Error(`refused: ${result.refused}`);
  return result;
}

function refused(result: Change | Refusal | null): string | null {
  return result !== null && 'refused' in result ? result.refused : null;
}

function opened(overrides: Partial<Opening> = {}): RefundCase {
  return openCase({ ...opening, ...overrides }, noon).refundCase;
}

function executing(): RefundCase {
  return accepted(startExecution(opened({ initiator: 'MERCHANT' }), noon)).refundCase;
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
    const { refundCase, events } = accepted(decideAsMerchant(opened(), 'APPROVED', 'agreed', [], later));
    expect(refundCase).toMatchObject({
      status: 'APPROVED_FOR_EXECUTION',
      merchantDecision: { decision: 'APPROVED', decidedAt: later, reason: 'agreed' },
      updatedAt: later,
    });
    expect(events).toEqual(['refund.merchant_decided.v1', 'refund.approved.v1']);
  });

  test('an approval beyond the limits of 24 hours goes to review, blocked by them', () => {
    const { refundCase } = accepted(
      decideAsMerchant(opened(), 'APPROVED', null, ['REFUND_VOLUME_24H'], later),
    );
    expect(refundCase).toMatchObject({ status: 'SERVICE_REVIEW', blockedBy: ['REFUND_VOLUME_24H'] });
  });

  test('a dispute leaves the case with the merchant, whose approval then goes to review', () => {
    const disputed = accepted(blockDisputed(opened(), later));
    expect(disputed.events).toEqual([]);
    expect(disputed.refundCase.status).toBe('MERCHANT_REVIEW');
    const { refundCase } = accepted(decideAsMerchant(disputed.refundCase, 'APPROVED', null, [], later));
    expect(refundCase).toMatchObject({ status: 'SERVICE_REVIEW', blockedBy: ['PAYMENT_DISPUTED'] });
  });

  test('the deadline decides from its very moment on, and not before', () => {
    const before = new Date(deadline.getTime() - 1);
    expect(expireMerchantReview(opened(), before)).toMatchObject({
      refused: 'MERCHANT_REVIEW_NOT_DUE',
      metadata: { merchantReviewDeadlineAt: deadline.toISOString() },
    });
    const { refundCase, events } = accepted(expireMerchantReview(opened(), deadline));
    expect(refundCase.merchantDecision).toEqual({ decision: 'EXPIRED', decidedAt: null, reason: null });
    expect(events).toEqual(['refund.merchant_decided.v1', 'refund.review_started.v1']);
  });

  test('decision and deadline: the first wins, the second meets the state it left', () => {
    const decided = accepted(decideAsMerchant(opened(), 'CONTESTED', null, [], deadline)).refundCase;
    expect(expireMerchantReview(decided, deadline)).toEqual({
      refused: 'REFUND_CASE_STATE',
      metadata: { status: 'SERVICE_REVIEW' },
    });
    const expired = accepted(expireMerchantReview(opened(), deadline)).refundCase;
    expect(refused(decideAsMerchant(expired, 'APPROVED', null, [], deadline))).toBe('REFUND_CASE_STATE');
  });
});

describe('the service review', () => {
  test('an approval overrides the limits and leaves the holds of other teams', () => {
    const held = accepted(
      addBlocker(opened({ policyBlockers: ['REFUND_FREQUENCY_24H'] }), 'KYC_NOT_APPROVED', noon),
    );
    const { refundCase } = accepted(approveInReview(held.refundCase, 'OPERATIONS', later));
    expect(refundCase).toMatchObject({
      status: 'APPROVED_FOR_EXECUTION',
      approvalMode: 'OPERATIONS',
      blockedBy: ['KYC_NOT_APPROVED'],
    });
    expect(startExecution(refundCase, later)).toEqual({
      refused: 'REFUND_CASE_BLOCKED',
      metadata: { status: 'APPROVED_FOR_EXECUTION', blockedBy: 'KYC_NOT_APPROVED' },
    });
    const cleared = accepted(clearBlocker(refundCase, 'KYC_NOT_APPROVED', later)).refundCase;
    expect(refused(startExecution(cleared, later))).toBeNull();
  });

  test('an open dispute is not overridden, but the refund can be rejected', () => {
    const disputed = opened({ policyBlockers: ['PAYMENT_DISPUTED'] });
    expect(refused(approveInReview(disputed, 'RISK_POLICY', later))).toBe('REFUND_CASE_BLOCKED');
    const { refundCase, events } = accepted(rejectInReview(disputed, 'RISK_POLICY', later));
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
    const { refundCase: unfunded, events } = accepted(recordDebit(executing(), 'INSUFFICIENT', later));
    expect(unfunded).toMatchObject({
      status: 'FUNDING_REQUIRED',
      blockedBy: ['INSUFFICIENT_AVAILABLE_BALANCE'],
    });
    expect(events).toEqual(['refund.funding_required.v1']);
    const again = accepted(startExecution(unfunded, later));
    expect(again.refundCase).toMatchObject({ status: 'APPROVED_FOR_EXECUTION', blockedBy: [] });
    const debited = accepted(recordDebit(again.refundCase, 'DEBITED', later));
    expect(debited.events).toEqual(['refund.processing.v1']);
    expect(refused(cancelCase(debited.refundCase, later))).toBe('REFUND_EXECUTION_STARTED');
  });

  test('a dispute takes a case that waits for funds to review, without the balance blocker', () => {
    const unfunded = accepted(recordDebit(executing(), 'INSUFFICIENT', later)).refundCase;
    const { refundCase } = accepted(blockDisputed(unfunded, later));
    expect(refundCase).toMatchObject({ status: 'SERVICE_REVIEW', blockedBy: ['PAYMENT_DISPUTED'] });
  });

  test('a debit recorded again changes nothing, another outcome than the recorded one is refused', () => {
    const processing = accepted(recordDebit(executing(), 'DEBITED', later)).refundCase;
    expect(recordDebit(processing, 'DEBITED', deadline)).toEqual({ refundCase: processing, events: [] });
    expect(refused(recordDebit(processing, 'INSUFFICIENT', deadline))).toBe('REFUND_EXECUTION_NOT_STARTED');
    expect(refused(recordDebit(opened(), 'DEBITED', later))).toBe('REFUND_EXECUTION_NOT_STARTED');
  });

  test('the provider submits, succeeds and returns late, once', () => {
    const processing = accepted(recordDebit(executing(), 'DEBITED', noon)).refundCase;
    const told = { refundId: 'pr_1', submissionStatus: 'accepted', submittedAt: noon };
    const submitted = accepted(recordProviderOutcome(processing, 'SUBMITTED', told, later));
    expect(submitted).toMatchObject({ refundCase: { status: 'PROCESSING', provider: told }, events: [] });
    const succeeded = accepted(recordProviderOutcome(submitted.refundCase, 'SUCCEEDED', {}, later));
    expect(succeeded.refundCase.provider).toEqual(told);
    expect(refused(recordProviderOutcome(succeeded.refundCase, 'SUCCEEDED', {}, later))).toBe(
      'REFUND_CASE_STATE',
    );
    const returned = accepted(recordProviderOutcome(succeeded.refundCase, 'FAILED', {}, later));
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
