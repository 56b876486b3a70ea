import { randomUUID } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import {
  DisputeAction as Action,
  ActionOwner,
} from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { minutesAgo } from '../../../support/ago.ts';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { sharedListHarness } from '../../../support/list-suite.ts';
import { describeQueue } from '../../../support/queue-suite.ts';
import { refundsOf } from '../refund-case-fixture.ts';
import { disputeQueue } from './dispute-queue.ts';

const { harness, statements } = sharedListHarness('refunds,funds');

const { MERCHANT, OPERATIONS } = ActionOwner;

describeQueue('ListDisputeQueue', () => disputeQueue(harness()), statements, [
  ['', 'dispute_queue'],
  ['dueBy', 'dispute_queue'],
  ['responsesOnly', 'dispute_queue_responses'],
]);

it('awaits the merchant until the response or the due date, then the submission of the response, then the outcome', async () => {
  const { refunds, tenant, write } = refundsOf(harness(), 'grpc');
  const open = async (due: object) => {
    const disputeId = randomUUID();
    const opening = { ...write(), disputeId, paymentIntentId: randomUUID(), occurredAt: minutesAgo(30) };
    await refunds.openDispute({ ...opening, ...due });
    return disputeId;
  };
  const overdue = await open({ dueAt: minutesAgo(10) });
  const ahead = await open({ dueAt: minutesAgo(-10) });
  const withoutDate = await open({});
  const responded = await open({ dueAt: minutesAgo(-5) });
  await refunds.respondToDispute({ ...write(), disputeId: responded, text: 'delivered on the 3rd' });
  const submitted = await open({ dueAt: minutesAgo(-8) });
  await refunds.respondToDispute({ ...write(), disputeId: submitted, text: 'signed for on the 3rd' });
  await refunds.recordResponseSubmission({ ...write(), disputeId: submitted });
  const { items } = await refunds.listDisputeQueue(tenant);
  expect(items.map(({ dispute, nextAction, owner }) => [dispute!.id, nextAction, owner])).toEqual([
    [withoutDate, Action.RECORD_OUTCOME, OPERATIONS],
    [overdue, Action.RECORD_OUTCOME, OPERATIONS],
    [responded, Action.REVIEW_RESPONSE, OPERATIONS],
    [submitted, Action.RECORD_OUTCOME, OPERATIONS],
    [ahead, Action.AWAIT_MERCHANT, MERCHANT],
  ]);
  const toSubmit = await refunds.listDisputeQueue({ ...tenant, responsesOnly: true });
  expect(toSubmit.items.map(({ dispute }) => dispute!.id)).toEqual([responded]);
  for (const { dispute, waitingSince, dueAt } of items) {
    expect(dispute).toEqual((await refunds.getDispute({ ...tenant, disputeId: dispute!.id })).dispute);
    expect(dueAt).toEqual(dispute!.dueAt);
    const { response, openedAt } = dispute!;
    const answeredAt = response?.submittedAt ?? response?.respondedAt;
    expect(waitingSince).toEqual(dispute!.id === overdue ? dueAt : (answeredAt ?? openedAt));
  }
});

it('refuses a due date that is not after the opening', async () => {
  const { refunds, write } = refundsOf(harness(), 'grpc');
  const at = minutesAgo(30);
  const dispute = { disputeId: randomUUID(), paymentIntentId: randomUUID(), occurredAt: at, dueAt: at };
  const refused = refunds.openDispute({ ...write(), ...dispute });
  await expectRefusal(refused, Code.InvalidArgument, 'DUE_DATE_BEFORE_OPENING');
});
