import { randomUUID } from 'node:crypto';
import { timestampFromDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { afterAll, describe, expect, it } from 'vitest';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  DisputeOutcome,
  DisputeReason,
  MerchantDecisionKind,
  ProviderOutcome,
  RefundBlocker,
  RefundDebitOutcome,
  RefundInitiator,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { daysAgo, hoursAgo } from '../../support/ago.ts';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { newTenant, startHarness } from '../../support/harness.ts';
import { sqlOf } from '../../support/sql.ts';
import { refundsOf } from './refund-case-fixture.ts';

const MAX_AMOUNT = 9_007_199_254_740_991n;

const harness = await startHarness({ SERVICES: 'refunds,funds', REFUND_VOLUME_LIMIT_24H: `${MAX_AMOUNT}` });
afterAll(() => harness.close());

type Event = { type: string; sequence: string; data: Record<string, unknown>; occurred_at: Date };
const eventsOf = (objectId: string) =>
  sqlOf<Event>(
    harness,
    `select type, sequence, body::json -> 'data' as data, occurred_at from webhooks.event
      where object_id = $1 order by sequence`,
    [objectId],
  );

type Command = { kind: string; workflow_id: string; workflow_type: string | null; arguments: unknown[] };
const commandsOf = (merchantId: string) =>
  sqlOf<Command>(
    harness,
    `select kind, workflow_id, workflow_type, arguments from platform.outbox_command
      where merchant_id = $1 order by id`,
    [merchantId],
  );

describe('a refund case', () => {
  it('publishes an event for every transition, numbered in order, with the case at that time', async () => {
    const { refunds, write, open, start, debit } = refundsOf(harness);
    const { id: refundCaseId } = await open();
    await refunds.decideRefundCase({ ...write(), refundCaseId, decision: MerchantDecisionKind.APPROVED });
    await start(refundCaseId);
    await debit(refundCaseId);
    await debit(refundCaseId);
    for (const outcome of [ProviderOutcome.SUBMITTED, ProviderOutcome.SUCCEEDED, ProviderOutcome.FAILED]) {
      await refunds.recordProviderOutcome({ ...write(), refundCaseId, outcome });
    }
    const events = await eventsOf(refundCaseId);
    expect(events.map(({ type, sequence, data }) => [type, Number(sequence), data.status])).toEqual([
      ['refund.requested.v1', 1, 'MERCHANT_REVIEW'],
      ['refund.merchant_decided.v1', 2, 'APPROVED_FOR_EXECUTION'],
      ['refund.approved.v1', 3, 'APPROVED_FOR_EXECUTION'],
      ['refund.processing.v1', 4, 'PROCESSING'],
      ['refund.succeeded.v1', 5, 'SUCCEEDED'],
      ['refund.failed.v1', 6, 'FAILED'],
    ]);
  });

  it('is published with exactly the fields of the public API, amounts exact up to the upper bound', async () => {
    const { open } = refundsOf(harness);
    const orderId = randomUUID();
    const paidAt = timestampFromDate(new Date('2026-11-01T12:00:00.123Z'));
    const occurredAt = timestampFromDate(new Date('2026-11-02T12:00:00.456Z'));
    const amounts = { amountMinor: MAX_AMOUNT, paidAmountMinor: MAX_AMOUNT };
    const { id, paymentIntentId } = await open({ ...amounts, orderId, paidAt, occurredAt });
    const [requested] = await eventsOf(id);
    expect(requested?.data).toEqual({
      id,
      amount: 9_007_199_254_740_991,
      currency: 'BRL',
      status: 'MERCHANT_REVIEW',
      initiator: 'CUSTOMER',
      approvalMode: null,
      blockedBy: [],
      evidenceCount: 0,
      invoiceId: null,
      orderId,
      paymentIntentId,
      paymentPaidAt: '2026-11-01T12:00:00.123Z',
      merchantReviewDeadlineAt: '2026-11-09T12:00:00.456Z',
      merchantDecision: null,
      provider: null,
      reason: 'does not fit',
      refundWindow: { days: 30, expiresAt: '2026-12-01T12:00:00.123Z' },
      requestedAt: '2026-11-02T12:00:00.456Z',
      updatedAt: '2026-11-02T12:00:00.456Z',
    });
    expect(requested?.occurred_at).toEqual(new Date('2026-11-02T12:00:00.456Z'));
  });

  it('has a workflow that waits for its deadline, and is canceled by the decision', async () => {
    const { refunds, tenant, write, open } = refundsOf(harness);
    const { id: refundCaseId } = await open();
    await refunds.decideRefundCase({ ...write(), refundCaseId, decision: MerchantDecisionKind.CONTESTED });
    const { id: withdrawn } = await open();
    await refunds.cancelRefundCase({ ...write(), refundCaseId: withdrawn });
    const { id: waiting } = await open();
    const { merchantId } = tenant;
    const start = (id: string) => ({
      kind: 'START',
      workflow_id: `merchant-review-${id}`,
      workflow_type: 'awaitMerchantReview',
      arguments: [{ merchantId, environment: 'live', refundCaseId: id }],
    });
    const cancel = { kind: 'CANCEL', workflow_type: null, arguments: [] };
    expect(await commandsOf(merchantId)).toEqual([
      { ...cancel, workflow_id: `merchant-review-${refundCaseId}` },
      { ...cancel, workflow_id: `merchant-review-${withdrawn}` },
      start(waiting),
    ]);
  });

  it('announces the approaching deadline once, at the time of the announcement, and mails about it, without a visible change', async () => {
    const { refunds, tenant, write, open } = refundsOf(harness);
    const opened = await open({ occurredAt: daysAgo(6), paidAt: daysAgo(7) });
    const early = open({ occurredAt: daysAgo(5.9), paidAt: daysAgo(7) });
    const announce = (refundCaseId: string) => refunds.announceReviewDeadline({ ...write(), refundCaseId });
    await expectRefusal(announce((await early).id), Code.FailedPrecondition, 'DEADLINE_NOTICE_NOT_DUE');
    for (let times = 0; times < 2; times += 1) {
      const { refundCase } = await announce(opened.id);
      expect(refundCase).toEqual({ ...opened, deadlineNotifiedAt: refundCase!.deadlineNotifiedAt });
      expect(refundCase!.deadlineNotifiedAt).toBeDefined();
    }
    const [requested, told, ...more] = await eventsOf(opened.id);
    expect(more).toEqual([]);
    expect(told).toMatchObject({
      type: 'refund.deadline_approaching.v1',
      sequence: '2',
      data: requested!.data,
    });
    expect(Date.now() - told!.occurred_at.getTime()).toBeLessThan(10_000);
    const { refundCase } = await refunds.getRefundCase({ ...tenant, refundCaseId: opened.id });
    expect(refundCase).toEqual({ ...opened, deadlineNotifiedAt: refundCase!.deadlineNotifiedAt });
    const notices = (await commandsOf(tenant.merchantId)).filter(
      ({ workflow_type: type }) => type === 'notifyContact',
    );
    expect(notices).toMatchObject([{ workflow_id: `notice-REFUND_DEADLINES-${tenant.merchantId}` }]);
  });

  it('has workflows that hold its sale’s funds from its opening and release them at its end', async () => {
    const { refunds, tenant, write, open } = refundsOf(harness);
    const sold = { saleId: randomUUID(), initiator: RefundInitiator.MERCHANT };
    const { id: refundCaseId } = await open(sold);
    await refunds.cancelRefundCase({ ...write(), refundCaseId });
    const { id: unsold } = await open({ initiator: RefundInitiator.MERCHANT });
    await refunds.cancelRefundCase({ ...write(), refundCaseId: unsold });
    const start = { kind: 'START', arguments: [{ ...tenant, environment: 'live', refundCaseId }] };
    expect(await commandsOf(tenant.merchantId)).toEqual([
      { ...start, workflow_id: `refund-hold-${refundCaseId}`, workflow_type: 'holdRefundFunds' },
      { ...start, workflow_id: `refund-hold-end-${refundCaseId}`, workflow_type: 'endRefundHold' },
    ]);
  });

  it('is executed by a workflow per execution, and a failed refund is reversed by another', async () => {
    const { refunds, tenant, write, processing } = refundsOf(harness);
    const { id: refundCaseId } = await processing();
    await refunds.recordProviderOutcome({ ...write(), refundCaseId, outcome: ProviderOutcome.FAILED });
    const { merchantId } = tenant;
    expect(await commandsOf(merchantId)).toEqual([
      {
        kind: 'START',
        workflow_id: `refund-${refundCaseId}`,
        workflow_type: 'executeRefund',
        arguments: [{ merchantId, environment: 'live', refundCaseId, execution: 1 }],
      },
      {
        kind: 'START',
        workflow_id: `refund-reversal-${refundCaseId}`,
        workflow_type: 'reverseRefund',
        arguments: [{ merchantId, environment: 'live', refundCaseId }],
      },
      expect.objectContaining({ workflow_id: `notice-REFUND_FAILED-${refundCaseId}` }),
    ]);
  });

  it('has one mail about waiting for the balance, however often it waits', async () => {
    const { tenant, open, start, debit } = refundsOf(harness);
    const { id } = await open({ initiator: RefundInitiator.MERCHANT });
    for (let execution = 1; execution <= 3; execution += 1) {
      await start(id);
      await debit(id, RefundDebitOutcome.INSUFFICIENT);
    }
    const notices = (await commandsOf(tenant.merchantId)).filter(
      ({ workflow_type: type }) => type === 'notifyContact',
    );
    expect(notices).toMatchObject([{ workflow_id: `notice-REFUND_UNFUNDED-${id}` }]);
  });

  it('has one mail in a week about approved cases that the merchant’s verification or account blocks, in live only', async () => {
    const { tenant, refunds, write, open } = refundsOf(harness);
    const { KYC_NOT_APPROVED, MERCHANT_NOT_ACTIVE, PAYMENT_NOT_LIVE } = RefundBlocker;
    const notices = async () =>
      (await commandsOf(tenant.merchantId)).filter(({ workflow_type: type }) => type === 'notifyContact');
    const block = (refundCaseId: string, blocker: RefundBlocker) =>
      refunds.addBlocker({ ...write(), refundCaseId, blocker });
    const approved = () => open({ initiator: RefundInitiator.MERCHANT });
    const sandbox = refundsOf(harness, 'inProcess', { ...tenant, environment: Environment.TEST });
    const { id: refundCaseId } = await sandbox.open({ initiator: RefundInitiator.MERCHANT });
    await sandbox.refunds.addBlocker({ ...sandbox.write(), refundCaseId, blocker: KYC_NOT_APPROVED });
    const first = await open();
    await block(first.id, KYC_NOT_APPROVED);
    await block((await approved()).id, PAYMENT_NOT_LIVE);
    expect(await notices()).toEqual([]);
    const decision = MerchantDecisionKind.APPROVED;
    await refunds.decideRefundCase({ ...write(), refundCaseId: first.id, decision });
    const notice = { workflow_id: `notice-REFUNDS_BLOCKED-${tenant.merchantId}` };
    expect(await notices()).toMatchObject([notice]);
    await block((await approved()).id, MERCHANT_NOT_ACTIVE);
    await block(first.id, MERCHANT_NOT_ACTIVE);
    expect(await notices()).toHaveLength(1);
    await sqlOf(
      harness,
      `update refunds.refund_case set requested_at = requested_at - interval '8 days',
         updated_at = updated_at - interval '8 days', blocked_since = blocked_since - interval '8 days'
       where merchant_id = $1`,
      [tenant.merchantId],
    );
    await block((await approved()).id, KYC_NOT_APPROVED);
    expect(await notices()).toMatchObject([notice, notice]);
    // One that came within the week and caused no mail does not put off the next mail.
    const wait = (days: number) =>
      sqlOf(
        harness,
        `update refunds.refund_case set requested_at = requested_at - interval '1 day' * $2,
           updated_at = updated_at - interval '1 day' * $2, blocked_since = blocked_since - interval '1 day' * $2
         where merchant_id = $1`,
        [tenant.merchantId, days],
      );
    await wait(4);
    await block((await approved()).id, KYC_NOT_APPROVED);
    expect(await notices()).toHaveLength(2);
    await wait(4);
    await block((await approved()).id, KYC_NOT_APPROVED);
    expect(await notices()).toHaveLength(3);
    // Nor does another blocker of a case that has waited for long.
    await wait(8);
    await block(first.id, PAYMENT_NOT_LIVE);
    await block((await approved()).id, KYC_NOT_APPROVED);
    expect(await notices()).toHaveLength(4);
  });

  it('publishes nothing for a write that was refused', async () => {
    const { refunds, tenant, write, open } = refundsOf(harness);
    const { id: refundCaseId } = await open({ initiator: RefundInitiator.MERCHANT });
    const before = await eventsOf(refundCaseId);
    const decision = MerchantDecisionKind.APPROVED;
    const refused = refunds.decideRefundCase({ ...write(), refundCaseId, decision });
    await expectRefusal(refused, Code.FailedPrecondition, 'REFUND_CASE_STATE');
    expect(await eventsOf(refundCaseId)).toEqual(before);
    expect(await commandsOf(tenant.merchantId)).toEqual([]);
  });

  it('has workflows that mail about a dispute, hold the funds of its sale, and release or deduct them', async () => {
    const { refunds, tenant, write } = refundsOf(harness);
    const [disputeId, silent] = [randomUUID(), randomUUID()];
    const saleId = randomUUID();
    await refunds.openDispute({ ...write(), disputeId, paymentIntentId: randomUUID(), saleId });
    await refunds.openDispute({ ...write(), disputeId: silent, paymentIntentId: randomUUID() });
    await refunds.closeDispute({ ...write(), disputeId });
    await refunds.closeDispute({ ...write(), disputeId: silent });
    const start = { kind: 'START', arguments: [{ ...tenant, environment: 'live', disputeId }] };
    const notice = (id: string, kind = 'DISPUTE_DUE') =>
      expect.objectContaining({ workflow_id: `notice-${kind}-${id}` });
    expect(await commandsOf(tenant.merchantId)).toEqual([
      { ...start, workflow_id: `dispute-hold-${disputeId}`, workflow_type: 'holdDisputedFunds' },
      notice(disputeId),
      notice(silent),
      { ...start, workflow_id: `dispute-hold-end-${disputeId}`, workflow_type: 'endDisputeHold' },
      notice(disputeId, 'DISPUTE_ENDED'),
      notice(silent, 'DISPUTE_ENDED'),
    ]);
  });

  it('mails about a dispute that is recorded a day late only if it has a due date', async () => {
    const { refunds, tenant, write } = refundsOf(harness);
    const [recent, late, lateWithDueDate] = [randomUUID(), randomUUID(), randomUUID()];
    const open = (disputeId: string, openedHoursAgo: number, due: object = {}) =>
      refunds.openDispute({
        ...write(),
        disputeId,
        paymentIntentId: randomUUID(),
        occurredAt: hoursAgo(openedHoursAgo),
        ...due,
      });
    await open(recent, 23);
    await open(late, 25);
    await open(lateWithDueDate, 25, { dueAt: hoursAgo(-72) });
    const commands = await commandsOf(tenant.merchantId);
    expect(commands.map(({ workflow_id }) => workflow_id)).toEqual([
      `notice-DISPUTE_DUE-${recent}`,
      `notice-DISPUTE_DUE-${lateWithDueDate}`,
    ]);
  });

  it('mails about the end of a dispute unless it is recorded more than a day late, or in the sandbox', async () => {
    const endings = async (environment: Environment, closedHoursAgo: number) => {
      const { refunds, tenant, write } = refundsOf(harness, 'inProcess', newTenant(environment));
      const dispute = { disputeId: randomUUID(), paymentIntentId: randomUUID() };
      await refunds.openDispute({ ...write(), ...dispute, occurredAt: hoursAgo(48) });
      const { disputeId } = dispute;
      await refunds.closeDispute({ ...write(), disputeId, occurredAt: hoursAgo(closedHoursAgo) });
      const commands = await commandsOf(tenant.merchantId);
      return commands.filter(({ workflow_id: id }) => id === `notice-DISPUTE_ENDED-${disputeId}`).length;
    };
    expect(await endings(Environment.LIVE, 23)).toBe(1);
    expect(await endings(Environment.LIVE, 25)).toBe(0);
    expect(await endings(Environment.TEST, 23)).toBe(0);
  });

  it('publishes the opening, the response and the closing of a dispute, with the data known by then', async () => {
    const { refunds, write } = refundsOf(harness);
    const [disputeId, paymentIntentId, saleId] = [randomUUID(), randomUUID(), randomUUID()];
    const dueAt = timestampFromMs(Date.parse('2099-01-01T00:00:00Z'));
    const terms = { saleId, amountMinor: 990n, reason: DisputeReason.DUPLICATE, dueAt };
    await refunds.openDispute({ ...write(), disputeId, paymentIntentId, ...terms });
    await refunds.respondToDispute({ ...write(), disputeId, text: 'two orders' });
    await refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.LOST });
    const time = expect.stringMatching(/Z$/);
    const dispute = { id: disputeId, paymentIntentId, saleId, amount: 990, currency: 'BRL' };
    const opened = { ...dispute, reason: 'DUPLICATE', openedAt: time, dueAt: '2099-01-01T00:00:00.000Z' };
    const responded = { ...opened, respondedAt: time };
    const events = await eventsOf(disputeId);
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ['dispute.opened.v1', opened],
      ['dispute.responded.v1', responded],
      ['dispute.closed.v1', { ...responded, closedAt: time, outcome: 'LOST' }],
    ]);
    const silent = randomUUID();
    await refunds.openDispute({ ...write(), disputeId: silent, paymentIntentId });
    const [{ data } = { data: {} }] = await eventsOf(silent);
    expect(data).toEqual({
      id: silent,
      paymentIntentId,
      saleId,
      currency: 'BRL',
      reason: 'GENERAL',
      openedAt: time,
    });
  });
});
