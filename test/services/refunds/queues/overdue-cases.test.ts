import { randomUUID } from 'node:crypto';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { afterAll, expect, it, vi } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  ActionOwner,
  DisputeOutcome,
  MerchantDecisionKind,
  RefundBlocker,
  RefundDebitOutcome,
  RefundInitiator,
} from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { hoursAgo } from '../../../support/ago.ts';
import { copyRows } from '../../../support/copy-rows.ts';
import { newTenant, startHarness } from '../../../support/harness.ts';
import { scrape, UNTIL_SCRAPED } from '../../../support/scrape.ts';
import { refundsOf } from '../refund-case-fixture.ts';
import { expectIndexesRead } from './indexes-of-open-cases.ts';

const OWNERS = ['MERCHANT', 'OPERATIONS', 'SERVICE'] as const;

const harness = await startHarness({
  SERVICES: 'refunds',
  MERCHANT_REVIEW_PERIOD: '20h',
  REFUND_WORK_DUE_AFTER: '10h',
  DISPUTE_OUTCOME_DUE_AFTER: '10h',
  REFUND_EXECUTION: 'manual',
});
afterAll(() => harness.close());

/** Cases that entered each open status this many hours ago. */
async function openCases(hours: number, environment: Environment): Promise<void> {
  const { refunds, write, open } = refundsOf(harness, 'inProcess', newTenant(environment));
  const occurredAt = hoursAgo(hours);
  const paidAt = hoursAgo(100);
  const opened = async (initiator: RefundInitiator) => (await open({ initiator, occurredAt, paidAt })).id;
  const executing = async () => {
    const refundCaseId = await opened(RefundInitiator.MERCHANT);
    await refunds.startRefund({ ...write(), refundCaseId, occurredAt });
    return refundCaseId;
  };
  const debited = async (outcome: RefundDebitOutcome) =>
    refunds.recordRefundDebit({ ...write(), refundCaseId: await executing(), outcome, occurredAt });
  await opened(RefundInitiator.CUSTOMER);
  const decision = MerchantDecisionKind.CONTESTED;
  const contested = await opened(RefundInitiator.CUSTOMER);
  await refunds.decideRefundCase({ ...write(), refundCaseId: contested, decision, occurredAt });
  const blocked = await opened(RefundInitiator.MERCHANT);
  const blocker = RefundBlocker.KYC_NOT_APPROVED;
  await refunds.addBlocker({ ...write(), refundCaseId: blocked, blocker });
  await opened(RefundInitiator.MERCHANT);
  await executing();
  await debited(RefundDebitOutcome.INSUFFICIENT);
  await debited(RefundDebitOutcome.DEBITED);
}

/** A count for each owner. */
const byOwner = (count: (owner: (typeof OWNERS)[number]) => number | undefined) =>
  Object.fromEntries(OWNERS.map((owner) => [owner, count(owner)]));

/** How many cases of the queue are overdue, by owner. */
async function overdueInQueue(environment: Environment) {
  const { refunds } = refundsOf(harness);
  const { items } = await refunds.listRefundCaseQueue({ environment, pageSize: 100 });
  const overdue = items.filter(({ dueAt }) => dueAt && timestampMs(dueAt) <= Date.now());
  return byOwner((owner) => overdue.filter((item) => item.owner === ActionOwner[owner]).length);
}

async function overdueInMetrics(environment: 'live' | 'test') {
  const scraped = await scrape();
  return byOwner((owner) =>
    scraped(`payments_refunds_overdue{environment="${environment}",owner="${owner.toLowerCase()}"}`),
  );
}

it('counts the cases that are overdue in the queue, by environment and owner', async () => {
  for (const hours of [0, 5, 15, 30]) await openCases(hours, Environment.LIVE);
  await openCases(15, Environment.TEST);
  // A review ends after 20 hours and an execution is due after one; other work (one kind for the merchant, three for
  // operations) is due after 10.
  const live = { MERCHANT: 1 + 2, OPERATIONS: 3 * 2, SERVICE: 3 };
  expect(await overdueInQueue(Environment.LIVE)).toEqual(live);
  expect(await overdueInQueue(Environment.TEST)).toEqual({ MERCHANT: 1, OPERATIONS: 3, SERVICE: 1 });
  await vi.waitFor(async () => {
    expect(await overdueInMetrics('live')).toEqual(await overdueInQueue(Environment.LIVE));
    expect(await overdueInMetrics('test')).toEqual(await overdueInQueue(Environment.TEST));
  }, UNTIL_SCRAPED);
});

it('counts a disputed case only once its dispute is closed, and work has been due since then', async () => {
  const { refunds, write, open } = refundsOf(harness, 'inProcess', newTenant(Environment.LIVE));
  const before = (await overdueInQueue(Environment.LIVE)).OPERATIONS!;
  const disputed = async () => {
    const disputeId = randomUUID();
    const facts = { occurredAt: hoursAgo(30), paidAt: hoursAgo(100) };
    const { paymentIntentId } = await open({ ...facts, initiator: RefundInitiator.MERCHANT });
    await refunds.openDispute({ ...write(), disputeId, paymentIntentId, occurredAt: hoursAgo(25) });
    return disputeId;
  };
  const [early, late, never] = [await disputed(), await disputed(), await disputed()];
  const overdue = async () => {
    const [queue, metrics] = [await overdueInQueue(Environment.LIVE), await overdueInMetrics('live')];
    return [queue.OPERATIONS! - before, metrics.OPERATIONS! - before];
  };
  await vi.waitFor(async () => expect(await overdue()).toEqual([0, 0]), UNTIL_SCRAPED);
  await refunds.closeDispute({ ...write(), disputeId: early, occurredAt: hoursAgo(15) });
  await refunds.closeDispute({ ...write(), disputeId: late, occurredAt: hoursAgo(5) });
  await vi.waitFor(async () => expect(await overdue()).toEqual([1, 1]), UNTIL_SCRAPED);
  await refunds.closeDispute({ ...write(), disputeId: never });
});

it('reads indexes of open cases only', async () => {
  await copyRows(harness, 'refunds.refund_case', ['status', 'PROCESSING'], 2_000, { status: 'SUCCEEDED' });
  await expectIndexesRead(
    harness,
    'refunds.refund_case',
    ['refund_case_review_deadline', 'refund_case_work', 'refund_case_to_execute'],
    scrape,
  );
});

it('counts open disputes that have had no outcome for too long after their due date or their opening', async () => {
  const { refunds, write } = refundsOf(harness, 'inProcess', newTenant(Environment.LIVE));
  const open = async (openedHoursAgo: number, due: object = {}) => {
    const disputeId = randomUUID();
    const opening = { ...write(), disputeId, paymentIntentId: randomUUID(), amountMinor: 70n };
    await refunds.openDispute({ ...opening, occurredAt: hoursAgo(openedHoursAgo), ...due });
    return disputeId;
  };
  await open(5);
  await open(15);
  await open(30, { dueAt: hoursAgo(5) });
  const responded = await open(30, { dueAt: hoursAgo(-5) });
  await refunds.respondToDispute({ ...write(), disputeId: responded, text: 'delivered on the 3rd' });
  await refunds.recordResponseSubmission({ ...write(), disputeId: responded });
  await open(30, { dueAt: hoursAgo(15) });
  const closed = await open(30, { dueAt: hoursAgo(15) });
  const overdue = async () => (await scrape())('payments_disputes_overdue{environment="live"}');
  await vi.waitFor(async () => expect(await overdue()).toBe(3), UNTIL_SCRAPED);
  await refunds.closeDispute({ ...write(), disputeId: closed, outcome: DisputeOutcome.LOST });
  await vi.waitFor(async () => expect(await overdue()).toBe(2), UNTIL_SCRAPED);
  expect((await scrape())('payments_disputes_overdue{environment="test"}')).toBe(0);
});

it('counts responses that are not submitted for too long, or a day before the due date', async () => {
  const { refunds, write } = refundsOf(harness, 'inProcess', newTenant(Environment.LIVE));
  const answer = async (respondedHoursAgo: number, dueInHours?: number) => {
    const disputeId = randomUUID();
    const dueAt = dueInHours === undefined ? undefined : hoursAgo(-dueInHours);
    const opening = { disputeId, paymentIntentId: randomUUID(), amountMinor: 70n, dueAt };
    await refunds.openDispute({ ...write(), ...opening, occurredAt: hoursAgo(40) });
    const response = { disputeId, text: 'delivered on the 3rd', occurredAt: hoursAgo(respondedHoursAgo) };
    await refunds.respondToDispute({ ...write(), ...response });
    return disputeId;
  };
  await answer(5);
  await answer(5, 30);
  const silent = await answer(15, 60);
  const due = await answer(1, 20);
  const past = await answer(20, -15);
  const overdue = async (environment = 'live') =>
    (await scrape())(`payments_dispute_responses_overdue{environment="${environment}"}`);
  await vi.waitFor(async () => expect(await overdue()).toBe(3), UNTIL_SCRAPED);
  await refunds.recordResponseSubmission({ ...write(), disputeId: silent });
  await vi.waitFor(async () => expect(await overdue()).toBe(2), UNTIL_SCRAPED);
  await refunds.closeDispute({ ...write(), disputeId: past, outcome: DisputeOutcome.WON });
  await vi.waitFor(async () => expect(await overdue()).toBe(1), UNTIL_SCRAPED);
  await refunds.recordResponseSubmission({ ...write(), disputeId: due });
  await vi.waitFor(async () => expect(await overdue()).toBe(0), UNTIL_SCRAPED);
  expect(await overdue('test')).toBe(0);
});

it('reads indexes of open disputes only', async () => {
  await copyRows(harness, 'refunds.dispute', ['outcome', 'WON'], 2_000);
  await expectIndexesRead(harness, 'refunds.dispute', ['dispute_queue', 'dispute_to_submit'], scrape);
});
