import { randomUUID } from 'node:crypto';
import { timestampDate, timestampFromDate, timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { afterAll, describe, expect, it, vi } from 'vitest';
import {
  ApprovalMode,
  DisputeAction,
  DisputeOutcome,
  DisputeReason,
  MerchantDecisionKind,
  ProviderOutcome,
  RefundBlocker,
  RefundDebitOutcome,
  RefundInitiator,
  ReviewDecision,
  RefundCaseStatus as Status,
} from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { minutesAgo } from '../../../support/ago.ts';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { startHarness } from '../../../support/harness.ts';
import { lockWaits, openSession } from '../../../support/sql.ts';
import { refundsOf } from '../refund-case-fixture.ts';

const harness = await startHarness({ SERVICES: 'refunds,funds' });
afterAll(() => harness.close());

const DISPUTED = [RefundBlocker.PAYMENT_DISPUTED];
const paidAt = minutesAgo(1);
const payment = () => ({ paymentIntentId: randomUUID(), paidAt, paidAmountMinor: 100_000n });

describe('disputes', () => {
  it('are opened and closed once by repeated calls, also after the due date, or while funds are away', async () => {
    const { refunds, tenant, write } = refundsOf(harness);
    const [disputeId, saleId] = [randomUUID(), randomUUID()];
    const dueAt = timestampFromMs(Date.now() + 1_500);
    const opening = { ...write(), disputeId, paymentIntentId: randomUUID(), saleId, dueAt };
    const opened = await refunds.openDispute(opening);
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(timestampMs(dueAt)), { timeout: 5_000 });
    expect(await refunds.openDispute(opening)).toEqual(opened);
    const late = refunds.openDispute({ ...opening, ...write(), disputeId: randomUUID() });
    await expectRefusal(late, Code.InvalidArgument, 'DUE_DATE_BEFORE_OPENING');
    const closing = { ...write(), disputeId, outcome: DisputeOutcome.LOST };
    const closed = await refunds.closeDispute(closing);
    const withoutFunds = await startHarness({ SERVICES: 'refunds' }, undefined, harness.databaseUrl);
    const alone = refundsOf(withoutFunds, 'inProcess', tenant).refunds;
    try {
      expect(await alone.closeDispute(closing)).toEqual(closed);
    } finally {
      await withoutFunds.close();
    }
  });

  it('block the open cases of a payment, return approved ones to review, and make later ones start there', async () => {
    const { refunds, tenant, write, open, start, debit } = refundsOf(harness);
    const facts = payment();
    const { id: waiting } = await open(facts);
    const { id: approved } = await open({ ...facts, approvalMode: ApprovalMode.INSTANT });
    const { id: unfunded } = await open({ ...facts, initiator: RefundInitiator.MERCHANT });
    await start(unfunded);
    await debit(unfunded, RefundDebitOutcome.INSUFFICIENT);
    const { id: canceled } = await open(facts);
    await refunds.cancelRefundCase({ ...write(), refundCaseId: canceled });
    const { id: elsewhere } = await open();
    const disputeId = randomUUID();
    const opened = await refunds.openDispute({ ...write(), disputeId, ...facts });
    expect(opened.refundCases.map(({ id, status, blockedBy }) => [id, status, blockedBy])).toEqual([
      [waiting, Status.MERCHANT_REVIEW, DISPUTED],
      [approved, Status.SERVICE_REVIEW, DISPUTED],
      [unfunded, Status.SERVICE_REVIEW, DISPUTED],
    ]);
    const other = await refunds.getRefundCase({ ...tenant, refundCaseId: elsewhere });
    expect(other.refundCase).toMatchObject({ status: Status.MERCHANT_REVIEW, blockedBy: [] });
    const during = await open({ ...facts, approvalMode: ApprovalMode.INSTANT });
    expect(during).toMatchObject({ status: Status.SERVICE_REVIEW, blockedBy: DISPUTED });
    const decision = MerchantDecisionKind.APPROVED;
    const decided = await refunds.decideRefundCase({ ...write(), refundCaseId: waiting, decision });
    expect(decided.refundCase).toMatchObject({ status: Status.SERVICE_REVIEW, blockedBy: DISPUTED });
  });

  it('are opened once, even if the same id arrives for many payments concurrently', async () => {
    const { refunds, write } = refundsOf(harness);
    const disputeId = randomUUID();
    const open = () => refunds.openDispute({ ...write(), disputeId, paymentIntentId: randomUUID() });
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, open));
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused).toHaveLength(19);
    for (const { reason } of refused) {
      await expectRefusal(Promise.reject(reason), Code.AlreadyExists, 'DISPUTE_ALREADY_EXISTS');
    }
  });

  it('are not overridden by the review, which can decide after the last has closed', async () => {
    const { refunds, write, open } = refundsOf(harness);
    const facts = payment();
    const disputes = [randomUUID(), randomUUID()] as const;
    const { id: refundCaseId } = await open({ ...facts, approvalMode: ApprovalMode.INSTANT });
    for (const disputeId of disputes) await refunds.openDispute({ ...write(), disputeId, ...facts });
    const review = { refundCaseId, decision: ReviewDecision.APPROVE, approvalMode: ApprovalMode.OPERATIONS };
    const approve = () => refunds.reviewRefundCase({ ...write(), ...review });
    await expectRefusal(approve(), Code.FailedPrecondition, 'REFUND_CASE_BLOCKED');
    const close = (disputeId: string) => refunds.closeDispute({ ...write(), disputeId });
    expect((await close(disputes[0])).refundCases).toEqual([]);
    await expectRefusal(approve(), Code.FailedPrecondition, 'REFUND_CASE_BLOCKED');
    const [freed] = (await close(disputes[1])).refundCases;
    expect(freed).toMatchObject({ id: refundCaseId, status: Status.SERVICE_REVIEW, blockedBy: [] });
    expect((await approve()).refundCase?.status).toBe(Status.APPROVED_FOR_EXECUTION);
  });

  it('do not open while a refund of the payment is executing, and not twice', async () => {
    const { refunds, write, open, start, debit } = refundsOf(harness);
    const facts = payment();
    const { id } = await open({ ...facts, initiator: RefundInitiator.MERCHANT });
    await start(id);
    const dispute = (disputeId = randomUUID()) => refunds.openDispute({ ...write(), disputeId, ...facts });
    await expectRefusal(dispute(), Code.FailedPrecondition, 'REFUND_EXECUTION_STARTED', {
      state: 'APPROVED_FOR_EXECUTION',
    });
    await debit(id);
    await expectRefusal(dispute(), Code.FailedPrecondition, 'REFUND_EXECUTION_STARTED', {
      state: 'PROCESSING',
    });
    const { id: other } = await open({ ...facts, approvalMode: ApprovalMode.INSTANT });
    await start(other);
    await debit(other, RefundDebitOutcome.INSUFFICIENT);
    await expectRefusal(dispute(), Code.FailedPrecondition, 'REFUND_EXECUTION_STARTED');
    const unrefunded = payment();
    const disputeId = randomUUID();
    const open1 = () => refunds.openDispute({ ...write(), disputeId, ...unrefunded });
    expect((await open1()).refundCases).toEqual([]);
    await expectRefusal(open1(), Code.AlreadyExists, 'DISPUTE_ALREADY_EXISTS');
    const close = (id = disputeId) => refunds.closeDispute({ ...write(), disputeId: id });
    await close();
    await expectRefusal(close(), Code.FailedPrecondition, 'DISPUTE_CLOSED', { state: 'CLOSED' });
    await expectRefusal(close(randomUUID()), Code.NotFound, 'DISPUTE_NOT_FOUND');
  });

  it('that are lost block refunds as long as they have not left enough of their payment', async () => {
    const { refunds, write, open, processing } = refundsOf(harness);
    const facts = payment();
    const { id: refundCaseId } = await processing({ ...facts, amountMinor: 30_000n });
    await refunds.recordProviderOutcome({ ...write(), refundCaseId, outcome: ProviderOutcome.SUCCEEDED });
    const [first, tooMuch, last] = [
      await open({ ...facts, amountMinor: 20_000n }),
      await open({ ...facts, amountMinor: 25_000n }),
      await open({ ...facts, amountMinor: 10_000n }),
    ];
    const [lost, won] = [randomUUID(), randomUUID()];
    const { paymentIntentId } = facts;
    for (const disputeId of [lost, won]) {
      await refunds.openDispute({ ...write(), disputeId, paymentIntentId, amountMinor: 40_000n });
    }
    const close = (disputeId: string, outcome: DisputeOutcome) =>
      refunds.closeDispute({ ...write(), disputeId, outcome });
    expect((await close(lost, DisputeOutcome.LOST)).refundCases).toEqual([]);
    const { refundCases } = await close(won, DisputeOutcome.WON);
    expect(refundCases).toMatchObject([
      { id: first.id, blockedBy: [] },
      { id: last.id, blockedBy: [] },
    ]);
    const approval = { decision: ReviewDecision.APPROVE, approvalMode: ApprovalMode.OPERATIONS };
    const decision = MerchantDecisionKind.CONTESTED;
    await refunds.decideRefundCase({ ...write(), refundCaseId: tooMuch.id, decision });
    const approve = (id: string) => refunds.reviewRefundCase({ ...write(), refundCaseId: id, ...approval });
    await expectRefusal(approve(tooMuch.id), Code.FailedPrecondition, 'REFUND_CASE_BLOCKED');
    const late = await open({ ...facts, amountMinor: 1n });
    expect(late.blockedBy).toEqual(DISPUTED);
    await refunds.cancelRefundCase({ ...write(), refundCaseId: late.id });
    await refunds.cancelRefundCase({ ...write(), refundCaseId: last.id });
    expect(await open({ ...facts, amountMinor: 5_000n })).toMatchObject({ blockedBy: [] });
    await expectRefusal(approve(tooMuch.id), Code.FailedPrecondition, 'REFUND_CASE_BLOCKED');
    await refunds.cancelRefundCase({ ...write(), refundCaseId: first.id });
    const approved = (await approve(tooMuch.id)).refundCase;
    expect(approved).toMatchObject({ status: Status.APPROVED_FOR_EXECUTION, blockedBy: [] });
  });

  it('that are lost for all that is left of a sale block every refund of their payment', async () => {
    const { refunds, write, open } = refundsOf(harness);
    const facts = { ...payment(), saleId: randomUUID() };
    await open(facts);
    const disputeId = randomUUID();
    await refunds.openDispute({ ...write(), disputeId, paymentIntentId: facts.paymentIntentId });
    const lost = await refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.LOST });
    expect(lost.refundCases).toEqual([]);
    expect(await open({ ...facts, amountMinor: 1n })).toMatchObject({ blockedBy: DISPUTED });
  });

  it('that are lost for all that is left of a sale do not deduct what the provider returns of a refund later', async () => {
    const { refunds, tenant, write, open, processing } = refundsOf(harness);
    const facts = { ...payment(), saleId: randomUUID() };
    const outcome = (refundCaseId: string, outcome: ProviderOutcome) =>
      refunds.recordProviderOutcome({ ...write(), refundCaseId, outcome });
    const [before, after] = [
      await processing({ ...facts, amountMinor: 10_000n }),
      await processing({ ...facts, amountMinor: 30_000n }),
    ];
    for (const { id } of [before, after]) await outcome(id, ProviderOutcome.SUCCEEDED);
    await outcome(before.id, ProviderOutcome.FAILED);
    const disputeId = randomUUID();
    await refunds.openDispute({ ...write(), disputeId, paymentIntentId: facts.paymentIntentId });
    const lost = await refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.LOST });
    expect(lost.dispute!.lostAmountMinor).toBe(70_000n);
    const { id: refundCaseId, blockedBy } = await open({ ...facts, amountMinor: 1n });
    expect(blockedBy).toEqual(DISPUTED);
    await outcome(after.id, ProviderOutcome.FAILED);
    const { refundCase } = await refunds.getRefundCase({ ...tenant, refundCaseId });
    expect(refundCase).toMatchObject({ status: Status.SERVICE_REVIEW, blockedBy: [] });
    expect(await open({ ...facts, amountMinor: 30_000n })).toMatchObject({ blockedBy: DISPUTED });
    expect(await open({ ...facts, amountMinor: 29_999n })).toMatchObject({ blockedBy: [] });
    expect(await open({ ...facts, amountMinor: 1n })).toMatchObject({ blockedBy: DISPUTED });
  });

  it('fix the sale of a payment until its first refund case does', async () => {
    const { refunds, write, open } = refundsOf(harness);
    const paymentIntentId = randomUUID();
    const saleId = randomUUID();
    const dispute = (sale?: string) =>
      refunds.openDispute({ ...write(), disputeId: randomUUID(), paymentIntentId, saleId: sale });
    await dispute(saleId);
    const refusal = [Code.FailedPrecondition, 'PAYMENT_FACTS_DIFFER', { fact: 'saleId' }] as const;
    await expectRefusal(dispute(randomUUID()), ...refusal);
    expect((await dispute()).dispute).toMatchObject({ saleId });
    expect(await open({ paymentIntentId })).toMatchObject({ saleId });
    const other = { ...payment(), saleId: randomUUID() };
    await refunds.openDispute({ ...write(), disputeId: randomUUID(), ...other, saleId });
    expect(await open(other)).toMatchObject({ saleId: other.saleId });
    await expectRefusal(open({ ...other, saleId }), ...refusal);
    const unsold = payment();
    await open(unsold);
    const named = refunds.openDispute({ ...write(), disputeId: randomUUID(), ...unsold, saleId });
    await expectRefusal(named, ...refusal);
  });

  it.each([
    { before: 'no sale', saleId: undefined },
    { before: 'another sale', saleId: randomUUID() },
  ])('deduct no more than their payment, if one was lost of $before before its first case', async (named) => {
    const { refunds, write, open } = refundsOf(harness);
    const { paymentIntentId, ...facts } = payment();
    const dispute = async (amountMinor: bigint, more: object = {}) => {
      const disputeId = randomUUID();
      const opening = { disputeId, paymentIntentId, amountMinor, ...more };
      const opened = await refunds.openDispute({ ...write(), ...opening });
      return { id: disputeId, saleId: opened.dispute!.saleId };
    };
    const lose = async ({ id }: { id: string }) => {
      const lost = { disputeId: id, outcome: DisputeOutcome.LOST };
      return (await refunds.closeDispute({ ...write(), ...lost })).dispute!;
    };
    await lose(await dispute(40_000n, named));
    await open({ ...facts, paymentIntentId, saleId: randomUUID() });
    const [second, third] = [await dispute(50_000n), await dispute(100_000n)];
    expect([second.saleId, third.saleId]).toEqual([undefined, undefined]);
    expect(await lose(second)).toMatchObject({ saleId: undefined, lostAmountMinor: 50_000n });
    expect(await lose(third)).toMatchObject({ saleId: undefined, lostAmountMinor: 10_000n });
  });

  it('without a sale and an amount stay open in the queue until their loss names the amount', async () => {
    const { refunds, tenant, write } = refundsOf(harness, 'grpc');
    const disputeId = randomUUID();
    await refunds.openDispute({ ...write(), disputeId, paymentIntentId: randomUUID() });
    const lose = (amountMinor?: bigint) =>
      refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.LOST, amountMinor });
    await expectRefusal(lose(), Code.FailedPrecondition, 'DISPUTE_AMOUNT_UNKNOWN', { field: 'amount_minor' });
    const { items } = await refunds.listDisputeQueue(tenant);
    expect(items).toMatchObject([{ dispute: { id: disputeId }, nextAction: DisputeAction.RECORD_OUTCOME }]);
    expect((await lose(70n)).dispute).toMatchObject({ amountMinor: 70n, outcome: DisputeOutcome.LOST });
    expect((await refunds.listDisputeQueue(tenant)).items).toEqual([]);
  });

  it('are returned with their sale and outcome; without an outcome they are won', async () => {
    const { refunds, tenant, write, open } = refundsOf(harness);
    const [known, saleId] = [payment(), randomUUID()];
    await open({ ...known, saleId });
    const named = { paymentIntentId: randomUUID(), saleId: randomUUID() };
    const disputes = [
      { disputeId: randomUUID(), ...known, saleId: undefined, ends: DisputeOutcome.LOST },
      { disputeId: randomUUID(), ...known, saleId, ends: DisputeOutcome.WON },
      { disputeId: randomUUID(), ...named, ends: DisputeOutcome.UNSPECIFIED },
    ];
    for (const { ends, ...opening } of disputes) {
      await refunds.openDispute({ ...write(), ...opening });
      const { disputeId } = opening;
      const { dispute } = await refunds.getDispute({ ...tenant, disputeId });
      const sale = opening.saleId ?? saleId;
      expect(dispute).toMatchObject({ ...tenant, id: disputeId, saleId: sale, outcome: 0 });
      expect(dispute?.closedAt).toBeUndefined();
      await refunds.closeDispute({ ...write(), disputeId, outcome: ends });
      const { dispute: closed } = await refunds.getDispute({ ...tenant, disputeId });
      expect(closed?.outcome).toBe(ends || DisputeOutcome.WON);
      expect(closed?.closedAt).toBeDefined();
    }
    const other = { ...write(), disputeId: randomUUID(), ...known, saleId: randomUUID() };
    await expectRefusal(refunds.openDispute(other), Code.FailedPrecondition, 'PAYMENT_FACTS_DIFFER', {
      fact: 'saleId',
    });
    const elsewhere = { ...tenant, merchantId: randomUUID(), disputeId: disputes[0]!.disputeId };
    await expectRefusal(refunds.getDispute(elsewhere), Code.NotFound, 'DISPUTE_NOT_FOUND');
  });

  it('take one response of the merchant until their due date, and show it with amount, reason and outcome', async () => {
    const { refunds, tenant, write } = refundsOf(harness, 'grpc');
    const minutes = (n: number) => timestampFromDate(new Date(Date.now() + n * 60_000));
    const dispute = async (dueAt = minutes(60)) => {
      const disputeId = randomUUID();
      const terms = { saleId: randomUUID(), amountMinor: 4_200n, reason: DisputeReason.FRAUDULENT, dueAt };
      const paymentIntentId = randomUUID();
      const opening = { disputeId, paymentIntentId, ...terms, occurredAt: minutes(-60) };
      const { dispute: opened } = await refunds.openDispute({ ...write(), ...opening });
      expect(opened).toMatchObject({ id: disputeId, currency: 'BRL', ...terms });
      expect(opened!.response).toBeUndefined();
      return disputeId;
    };
    const read = async (disputeId: string) => (await refunds.getDispute({ ...tenant, disputeId })).dispute!;
    const respond = (disputeId: string, more: object = {}) =>
      refunds.respondToDispute({ ...write(), disputeId, text: 'entregue 🙂'.padEnd(4_999, 'é'), ...more });
    const disputeId = await dispute();
    const first = { ...write(), disputeId, text: 'delivered' };
    const { dispute: responded } = await refunds.respondToDispute(first);
    expect(responded!.response).toMatchObject({ text: 'delivered' });
    expect(await read(disputeId)).toEqual(responded);
    expect((await refunds.respondToDispute(first)).dispute).toEqual(responded);
    await expectRefusal(respond(disputeId), Code.FailedPrecondition, 'DISPUTE_RESPONDED');
    const close = { ...write(), disputeId, outcome: DisputeOutcome.LOST };
    const { dispute: closed } = await refunds.closeDispute(close);
    expect(closed).toMatchObject({ response: responded!.response, outcome: DisputeOutcome.LOST });
    expect(await read(disputeId)).toEqual(closed);
    await expectRefusal(respond(disputeId), Code.FailedPrecondition, 'DISPUTE_CLOSED', { state: 'CLOSED' });
    const overdue = await dispute(minutes(-1));
    await expectRefusal(respond(overdue), Code.FailedPrecondition, 'DISPUTE_RESPONSE_OVERDUE');
    await expectRefusal(respond(overdue, { text: '' }), Code.InvalidArgument, 'INVALID_ARGUMENT');
    await expectRefusal(
      respond(overdue, { text: 'é'.repeat(5_001) }),
      Code.InvalidArgument,
      'INVALID_ARGUMENT',
    );
    await expectRefusal(respond(overdue, { merchantId: randomUUID() }), Code.NotFound, 'DISPUTE_NOT_FOUND');
    expect((await respond(overdue, { occurredAt: minutes(-2) })).dispute!.response!.text).toHaveLength(4_999);
  });

  it('record once that their response was submitted, and can end without that', async () => {
    const { refunds, tenant, write } = refundsOf(harness, 'grpc');
    const minutes = (n: number) => timestampFromDate(new Date(Date.now() + n * 60_000));
    const disputeId = randomUUID();
    const opening = { disputeId, paymentIntentId: randomUUID(), occurredAt: minutes(-60) };
    await refunds.openDispute({ ...write(), ...opening });
    const submit = (more: object = {}) =>
      refunds.recordResponseSubmission({ ...write(), disputeId, ...more });
    await expectRefusal(submit(), Code.FailedPrecondition, 'DISPUTE_NOT_RESPONDED');
    await refunds.respondToDispute({ ...write(), disputeId, text: 'delivered', occurredAt: minutes(-50) });
    const first = { ...write(), occurredAt: minutes(-40) };
    const { dispute } = await submit(first);
    expect(dispute!.response).toMatchObject({ text: 'delivered', submittedAt: first.occurredAt });
    expect((await refunds.getDispute({ ...tenant, disputeId })).dispute).toEqual(dispute);
    expect((await submit(first)).dispute).toEqual(dispute);
    await expectRefusal(submit(), Code.FailedPrecondition, 'DISPUTE_RESPONSE_SUBMITTED', {
      submittedAt: timestampDate(first.occurredAt).toISOString(),
    });
    await expectRefusal(submit({ merchantId: randomUUID() }), Code.NotFound, 'DISPUTE_NOT_FOUND');
    const close = (id: string) => refunds.closeDispute({ ...write(), disputeId: id });
    expect((await close(disputeId)).dispute!.response).toEqual(dispute!.response);
    await expectRefusal(submit(), Code.FailedPrecondition, 'DISPUTE_CLOSED');
    const unsubmitted = randomUUID();
    await refunds.openDispute({ ...write(), ...opening, disputeId: unsubmitted });
    await refunds.respondToDispute({ ...write(), disputeId: unsubmitted, text: 'delivered' });
    expect((await close(unsubmitted)).dispute!.response!.submittedAt).toBeUndefined();
  });

  it.each(['respondToDispute', 'closeDispute'] as const)(
    'that the merchant responds to while they close end as the first of the two calls says: %s',
    async (first) => {
      const { refunds, tenant, write } = refundsOf(harness);
      const disputeId = randomUUID();
      await refunds.openDispute({ ...write(), disputeId, paymentIntentId: randomUUID() });
      const calls = {
        respondToDispute: () => refunds.respondToDispute({ ...write(), disputeId, text: 'delivered' }),
        closeDispute: () => refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.WON }),
      };
      const second = first === 'closeDispute' ? 'respondToDispute' : 'closeDispute';
      // Both wait for the row of the dispute, which this session holds, in the order of their calls.
      await using session = await openSession(harness.databaseUrl);
      await session.query('begin');
      await session.query('select from refunds.dispute where id = $1 for update', [disputeId]);
      const racing: Promise<unknown>[] = [];
      for (const name of [first, second] as const) {
        racing.push(calls[name]());
        await expect.poll(() => lockWaits(harness), { interval: 20 }).toHaveLength(racing.length);
      }
      const settled = Promise.allSettled(racing);
      await session.end();
      const [, late] = await settled;
      const { dispute } = await refunds.getDispute({ ...tenant, disputeId });
      expect(dispute!.outcome).toBe(DisputeOutcome.WON);
      expect(dispute!.response?.text).toBe(first === 'closeDispute' ? undefined : 'delivered');
      if (first === 'respondToDispute') expect(late).toMatchObject({ value: { dispute } });
      else await expectRefusal(racing[1]!, Code.FailedPrecondition, 'DISPUTE_CLOSED');
    },
  );

  it('and the start of an execution exclude each other', async () => {
    const { refunds, write, open, start } = refundsOf(harness);
    for (let round = 0; round < 8; round += 1) {
      const facts = payment();
      const { id } = await open({ ...facts, approvalMode: ApprovalMode.INSTANT });
      const disputeId = randomUUID();
      const results = await Promise.allSettled([
        start(id),
        refunds.openDispute({ ...write(), disputeId, ...facts }),
      ]);
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    }
  });
});
