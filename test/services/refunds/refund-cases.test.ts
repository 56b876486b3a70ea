import { randomUUID } from 'node:crypto';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { afterAll, describe, expect, it } from 'vitest';
import {
  MerchantDecisionKind,
  ProviderOutcome,
  RefundBlocker,
  RefundInitiator,
  RefundCaseStatus as Status,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { HOUR_MS } from '../../../services/platform/durations.ts';
import { ago, hoursAgo } from '../../support/ago.ts';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { startHarness } from '../../support/harness.ts';
import { refundsOf } from './refund-case-fixture.ts';

const MAX_AMOUNT = 9_007_199_254_740_991n;

const harness = await startHarness({
  SERVICES: 'refunds,funds',
  MERCHANT_REVIEW_PERIOD: '2d',
  REFUND_VOLUME_LIMIT_24H: `${MAX_AMOUNT}`,
});
afterAll(() => harness.close());

const { FailedPrecondition, InvalidArgument } = Code;

describe('RefundCaseService', () => {
  it('returns an opened case with all its values, amounts exact up to the upper bound', async () => {
    const { refunds, tenant, open } = refundsOf(harness);
    const ids = { saleId: randomUUID(), orderId: randomUUID(), invoiceId: randomUUID() };
    const paidAt = hoursAgo(1);
    const opened = await open({
      ...ids,
      amountMinor: MAX_AMOUNT,
      paidAmountMinor: MAX_AMOUNT,
      evidenceCount: 3,
      paidAt,
      window: { case: 'refundWindowDays', value: 7 },
    });
    expect(opened).toMatchObject({
      ...tenant,
      ...ids,
      amountMinor: MAX_AMOUNT,
      currency: 'BRL',
      status: Status.MERCHANT_REVIEW,
      initiator: RefundInitiator.CUSTOMER,
      evidenceCount: 3,
      paymentPaidAt: paidAt,
      reason: 'does not fit',
      blockedBy: [],
      refundWindow: { days: 7, expiresAt: { seconds: paidAt.seconds + 7n * 86_400n } },
    });
    const deadlineMs = timestampDate(opened.merchantReviewDeadlineAt!).getTime();
    expect(deadlineMs - timestampDate(opened.requestedAt!).getTime()).toBe(48 * HOUR_MS);
    const got = await refunds.getRefundCase({ ...tenant, refundCaseId: opened.id });
    expect(got.refundCase).toEqual(opened);
    expect((await refunds.listRefundCases(tenant)).refundCases).toEqual([opened]);
  });

  it('takes a customer case through all statuses: approved, executed, submitted, succeeded, returned late', async () => {
    const { refunds, write, open, start, debit } = refundsOf(harness);
    const { id: refundCaseId } = await open();
    const decision = MerchantDecisionKind.APPROVED;
    const decided = await refunds.decideRefundCase({ ...write(), refundCaseId, decision, reason: 'agreed' });
    expect(decided.refundCase).toMatchObject({
      status: Status.APPROVED_FOR_EXECUTION,
      merchantDecision: { decision, reason: 'agreed' },
    });
    const started = await start(refundCaseId);
    expect(started).toMatchObject({ status: Status.APPROVED_FOR_EXECUTION, executions: 1 });
    expect(started.executionStartedAt).toBeDefined();
    expect(started.provider).toBeUndefined();
    const processing = await debit(refundCaseId);
    expect(processing).toMatchObject({ status: Status.PROCESSING, provider: {} });
    const submittedAt = ago(0);
    const told = { providerRefundId: 'pr_9', submissionStatus: 'accepted', submittedAt };
    const record = async (outcome: ProviderOutcome, more: Partial<typeof told> = {}) =>
      (await refunds.recordProviderOutcome({ ...write(), refundCaseId, outcome, ...more })).refundCase!;
    const provider = { refundId: 'pr_9', submissionStatus: 'accepted', submittedAt };
    expect(await record(ProviderOutcome.SUBMITTED, told)).toMatchObject({
      status: Status.PROCESSING,
      provider,
    });
    expect(await record(ProviderOutcome.SUCCEEDED)).toMatchObject({ status: Status.SUCCEEDED, provider });
    const late = await record(ProviderOutcome.FAILED, { submissionStatus: 'returned' });
    expect(late).toMatchObject({ status: Status.FAILED, provider: { submissionStatus: 'returned' } });
    await expectRefusal(record(ProviderOutcome.FAILED), FailedPrecondition, 'REFUND_CASE_STATE', {
      state: 'FAILED',
    });
  });

  it('holds an approved case until the blockers of other teams are cleared', async () => {
    const { refunds, write, open, start } = refundsOf(harness);
    const { id: refundCaseId } = await open({ initiator: RefundInitiator.MERCHANT });
    const blocker = RefundBlocker.KYC_NOT_APPROVED;
    for (let times = 0; times < 2; times += 1) {
      const { refundCase } = await refunds.addBlocker({ ...write(), refundCaseId, blocker });
      expect(refundCase).toMatchObject({ status: Status.APPROVED_FOR_EXECUTION, blockedBy: [blocker] });
    }
    await expectRefusal(start(refundCaseId), FailedPrecondition, 'REFUND_CASE_BLOCKED', {
      blockedBy: 'KYC_NOT_APPROVED',
    });
    const cleared = await refunds.clearBlocker({ ...write(), refundCaseId, blocker });
    expect(cleared.refundCase?.blockedBy).toEqual([]);
    expect((await refunds.clearBlocker({ ...write(), refundCaseId, blocker })).refundCase).toEqual(
      cleared.refundCase,
    );
    expect((await start(refundCaseId)).executionStartedAt).toBeDefined();
    const byHand = RefundBlocker.INSUFFICIENT_AVAILABLE_BALANCE;
    const refused = refunds.addBlocker({ ...write(), refundCaseId, blocker: byHand });
    await expectRefusal(refused, InvalidArgument, 'INVALID_ARGUMENT', { field: 'blocker' });
  });

  it('enforces the facts of a payment’s first case', async () => {
    const { open } = refundsOf(harness);
    const paymentIntentId = randomUUID();
    const orderId = randomUUID();
    const paidAt = hoursAgo(1);
    await open({ paymentIntentId, orderId, paidAt });
    const silent = await open({ paymentIntentId, paidAt: undefined, window: { case: undefined } });
    expect(silent).toMatchObject({ orderId, paymentPaidAt: paidAt, refundWindow: { days: 30 } });
    const differing = [
      ['orderId', { paidAt, orderId: randomUUID() }],
      ['invoiceId', { paidAt, invoiceId: randomUUID() }],
      ['paidAt', { paidAt: hoursAgo(2) }],
      ['paidAmountMinor', { paidAt, paidAmountMinor: 5_001n }],
      ['refundWindowDays', { paidAt, window: { case: 'refundWindowDays', value: 31 } }],
    ] as const;
    for (const [fact, overrides] of differing) {
      const opening = open({ paymentIntentId, ...overrides });
      await expectRefusal(opening, FailedPrecondition, 'PAYMENT_FACTS_DIFFER', { fact });
    }
  });

  it('never refunds more than was paid, and frees failed and withdrawn amounts', async () => {
    const { refunds, write, open, processing } = refundsOf(harness);
    const paymentIntentId = randomUUID();
    const paidAt = hoursAgo(1);
    const { id: processed } = await processing({ paymentIntentId, paidAt, amountMinor: 3_000n });
    const { id: withdrawn } = await open({ paymentIntentId, paidAt, amountMinor: 2_000n });
    const another = (amountMinor: bigint) => open({ paymentIntentId, paidAt, amountMinor });
    await expectRefusal(another(1n), FailedPrecondition, 'REFUND_EXCEEDS_PAYMENT', {
      refundableAmountMinor: '0',
    });
    await refunds.cancelRefundCase({ ...write(), refundCaseId: withdrawn });
    await refunds.recordProviderOutcome({
      ...write(),
      refundCaseId: processed,
      outcome: ProviderOutcome.FAILED,
    });
    await expectRefusal(another(5_001n), FailedPrecondition, 'REFUND_EXCEEDS_PAYMENT', {
      refundableAmountMinor: '5000',
    });
    expect((await another(5_000n)).status).toBe(Status.MERCHANT_REVIEW);
  });

  it('refuses a refund after its window, or before its payment', async () => {
    const { open } = refundsOf(harness);
    const window = { case: 'refundWindowDays', value: 7 } as const;
    const late = open({ window, paidAt: ago(7 * 24 * HOUR_MS + 1_000) });
    await expectRefusal(late, FailedPrecondition, 'REFUND_WINDOW_EXPIRED');
    await expectRefusal(open({ paidAt: hoursAgo(-1) }), InvalidArgument, 'PAID_AT_IN_FUTURE');
    const unknown = await open({ paidAt: undefined, window });
    expect(unknown.refundWindow).toBeUndefined();
    expect(unknown.paymentPaidAt).toBeUndefined();
  });

  it('accepts a past time of a write, but never moves the case back in time', async () => {
    const { refunds, write, open } = refundsOf(harness);
    const occurredAt = hoursAgo(24);
    const opened = await open({ occurredAt, paidAt: hoursAgo(48) });
    expect(opened).toMatchObject({ requestedAt: occurredAt, updatedAt: occurredAt });
    const before = hoursAgo(36);
    const canceled = await refunds.cancelRefundCase({
      ...write(),
      refundCaseId: opened.id,
      occurredAt: before,
    });
    expect(canceled.refundCase?.updatedAt).toEqual(occurredAt);
    await expectRefusal(open({ occurredAt: hoursAgo(-1) }), InvalidArgument, 'OCCURRED_AT_IN_FUTURE');
  });
});
