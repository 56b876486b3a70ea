import { randomUUID } from 'node:crypto';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import {
  RefundCaseAction as Action,
  ActionOwner,
  ApprovalMode,
  DisputeOutcome,
  MerchantDecisionKind,
  RefundBlocker,
  RefundCaseStatus,
  RefundDebitOutcome,
  RefundInitiator,
  ReviewDecision,
} from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { HOUR_MS } from '../../../../services/platform/durations.ts';
import { hoursAgo, minutesAgo } from '../../../support/ago.ts';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { sharedListHarness } from '../../../support/list-suite.ts';
import { describeQueue } from '../../../support/queue-suite.ts';
import { refundsOf } from '../refund-case-fixture.ts';
import { refundCaseQueue } from './refund-case-queue.ts';

const { harness, statements } = sharedListHarness('refunds,funds');

describeQueue(
  'ListRefundCaseQueue',
  () => refundCaseQueue(harness()),
  statements,
  [
    ['', 'refund_case_queue'],
    ['status', 'refund_case_queue_status'],
    ['blocker', 'refund_case_queue_blocked'],
  ],
  [['', 'refund_case_queue_merchant']],
);

/** A case's item of the queue; undefined when it is not in the queue. */
async function itemOf({ refunds, tenant }: ReturnType<typeof refundsOf>, id: string) {
  const { items } = await refunds.listRefundCaseQueue(tenant);
  return items.find(({ refundCase }) => refundCase!.id === id);
}

/** Who owes each action, and how long they have; AWAIT_MERCHANT has a deadline. */
const RULES: Partial<Record<Action, readonly [owner: ActionOwner, dueAfterMs: number]>> = {
  [Action.REVIEW]: [ActionOwner.OPERATIONS, 72 * HOUR_MS],
  [Action.CLEAR_BLOCKER]: [ActionOwner.OPERATIONS, 72 * HOUR_MS],
  [Action.START_REFUND]: [ActionOwner.OPERATIONS, 72 * HOUR_MS],
  [Action.AWAIT_EXECUTION]: [ActionOwner.SERVICE, HOUR_MS],
  [Action.AWAIT_FUNDS]: [ActionOwner.MERCHANT, 72 * HOUR_MS],
  [Action.AWAIT_PROVIDER]: [ActionOwner.PROVIDER, 24 * HOUR_MS],
};

it('names the next action from the request to the provider, who owes it, since when and until when', async () => {
  const merchant = refundsOf(harness(), 'grpc');
  const { refunds, write, open, start, debit } = merchant;
  const { id: refundCaseId, merchantReviewDeadlineAt } = await open();
  const since: number[] = [];
  const becomes = async (nextAction: Action) => {
    const item = await itemOf(merchant, refundCaseId);
    const { refundCase } = await refunds.getRefundCase({ ...merchant.tenant, refundCaseId });
    expect(item).toMatchObject({ refundCase, nextAction });
    const sinceMs = timestampMs(item!.waitingSince!);
    const [owner, dueAfterMs] = RULES[nextAction] ?? [ActionOwner.MERCHANT];
    const dueAt = dueAfterMs ? timestampFromMs(sinceMs + dueAfterMs) : merchantReviewDeadlineAt;
    expect(item).toMatchObject({ owner, dueAt });
    since.push(sinceMs);
    return item!;
  };
  expect((await becomes(Action.AWAIT_MERCHANT)).waitingSince).toEqual(
    (await refunds.getRefundCase({ ...merchant.tenant, refundCaseId })).refundCase!.requestedAt,
  );
  const blocker = RefundBlocker.KYC_NOT_APPROVED;
  await refunds.addBlocker({ ...write(), refundCaseId, blocker });
  await becomes(Action.AWAIT_MERCHANT);
  expect(since[1]).toBe(since[0]);
  await refunds.decideRefundCase({ ...write(), refundCaseId, decision: MerchantDecisionKind.CONTESTED });
  await becomes(Action.REVIEW);
  const approve = { decision: ReviewDecision.APPROVE, approvalMode: ApprovalMode.OPERATIONS };
  await refunds.reviewRefundCase({ ...write(), refundCaseId, ...approve });
  await becomes(Action.CLEAR_BLOCKER);
  await refunds.clearBlocker({ ...write(), refundCaseId, blocker });
  await becomes(Action.START_REFUND);
  await start(refundCaseId);
  const executing = await becomes(Action.AWAIT_EXECUTION);
  expect(executing.waitingSince).toEqual(executing.refundCase!.executionStartedAt);
  await debit(refundCaseId, RefundDebitOutcome.INSUFFICIENT);
  await becomes(Action.AWAIT_FUNDS);
  await refunds.addBlocker({ ...write(), refundCaseId, blocker });
  await becomes(Action.CLEAR_BLOCKER);
  await refunds.clearBlocker({ ...write(), refundCaseId, blocker });
  await start(refundCaseId);
  await debit(refundCaseId);
  await becomes(Action.AWAIT_PROVIDER);
  expect(since).toEqual(since.toSorted((a, b) => a - b));
});

it('asks for the dispute first, and lists no case that is closed', async () => {
  const merchant = refundsOf(harness(), 'grpc');
  const { refunds, write, open } = merchant;
  const { id: refundCaseId, paymentIntentId } = await open({ initiator: RefundInitiator.MERCHANT });
  await refunds.openDispute({ ...write(), disputeId: randomUUID(), paymentIntentId });
  expect((await itemOf(merchant, refundCaseId))!.nextAction).toBe(Action.RESOLVE_DISPUTE);
  const reject = { decision: ReviewDecision.REJECT, approvalMode: ApprovalMode.OPERATIONS };
  await refunds.reviewRefundCase({ ...write(), refundCaseId, ...reject });
  expect(await itemOf(merchant, refundCaseId)).toBeUndefined();
});

it('awaits the end of a dispute, then a decision from that time on, unless too little of the payment is left', async () => {
  const merchant = refundsOf(harness(), 'grpc');
  const { refunds, write, open } = merchant;
  const facts = { paymentIntentId: randomUUID(), paidAmountMinor: 1_000n, paidAt: hoursAgo(200) };
  const occurredAt = hoursAgo(100);
  const opened = async (amountMinor: bigint) =>
    (await open({ ...facts, amountMinor, occurredAt, initiator: RefundInitiator.MERCHANT })).id;
  const [small, large] = [await opened(300n), await opened(600n)];
  const lost = { ...write(), disputeId: randomUUID(), paymentIntentId: facts.paymentIntentId };
  await refunds.openDispute({ ...lost, amountMinor: 400n, occurredAt: hoursAgo(99) });
  const items = async () => [await itemOf(merchant, small), await itemOf(merchant, large)];
  for (const item of await items()) {
    expect([item!.nextAction, item!.dueAt]).toEqual([Action.RESOLVE_DISPUTE, undefined]);
  }
  const closedAt = hoursAgo(1);
  const outcome = DisputeOutcome.LOST;
  await refunds.closeDispute({ ...write(), disputeId: lost.disputeId, outcome, occurredAt: closedAt });
  const since = { waitingSince: closedAt, dueAt: timestampFromMs(timestampMs(closedAt) + 72 * HOUR_MS) };
  expect(await items()).toMatchObject([
    { ...since, nextAction: Action.REVIEW },
    { ...since, nextAction: Action.RESOLVE_DISPUTE },
  ]);
  await refunds.cancelRefundCase({ ...write(), refundCaseId: small });
  expect(await itemOf(merchant, small)).toBeUndefined();
  expect(await itemOf(merchant, large)).toMatchObject({ ...since, nextAction: Action.REVIEW });
});

it('lists cases of a minimum age', async () => {
  const { refunds, tenant, open } = refundsOf(harness(), 'grpc');
  const opened = async (minutes: number) =>
    (await open({ occurredAt: minutesAgo(minutes), paidAt: minutesAgo(100) })).id;
  const [old, young] = [await opened(30), await opened(10)];
  const listed = async (minAgeSeconds: number) => {
    const { items } = await refunds.listRefundCaseQueue({ ...tenant, minAgeSeconds });
    return items.map(({ refundCase }) => refundCase!.id);
  };
  expect(await listed(0)).toEqual([old, young]);
  expect(await listed(9 * 60)).toEqual([old, young]);
  expect(await listed(20 * 60)).toEqual([old]);
  expect(await listed(40 * 60)).toEqual([]);
});

it('refuses a merchant without an environment, and a status that is closed', async () => {
  const { refunds, tenant } = refundsOf(harness(), 'grpc');
  const { merchantId } = tenant;
  for (const request of [{ merchantId }, { status: RefundCaseStatus.SUCCEEDED }]) {
    await expectRefusal(refunds.listRefundCaseQueue(request), Code.InvalidArgument, 'INVALID_ARGUMENT');
  }
});
