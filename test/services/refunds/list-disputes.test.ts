import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DisputeOutcome } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { TestHarness } from '../../support/harness.ts';
import { describeList, describePlans, startListHarness } from '../../support/list-suite.ts';
import { awaitingDisputeList } from './awaiting-dispute-list.ts';
import { disputeList } from './dispute-list.ts';
import { refundsOf } from './refund-case-fixture.ts';

let harness: TestHarness;
const statements: string[] = [];
beforeAll(async () => {
  harness = await startListHarness('refunds', statements);
});
afterAll(() => harness.close());

describe('ListDisputes', () => {
  describeList('pages', () => disputeList(harness));
});

describeList('ListDisputes by the due date', () => awaitingDisputeList(harness));

describePlans(() => awaitingDisputeList(harness), statements, [['', 'dispute_awaiting']], 'refunds.dispute');

describePlans(
  () => disputeList(harness),
  statements,
  [
    ['', 'dispute_newest'],
    ['paymentIntentId', 'dispute_payment'],
    ['status', 'dispute_open'],
  ],
  'refunds.dispute',
);

it('returns each dispute like GetDispute', async () => {
  const { refunds, tenant, write, open } = refundsOf(harness, 'grpc');
  const { paymentIntentId } = await open({ saleId: randomUUID() });
  const ids = [randomUUID(), randomUUID()];
  for (const disputeId of ids) await refunds.openDispute({ ...write(), disputeId, paymentIntentId });
  const outcome = DisputeOutcome.LOST;
  await refunds.closeDispute({ ...write(), disputeId: ids[0]!, outcome });
  const { disputes } = await refunds.listDisputes(tenant);
  expect(disputes.map(({ id }) => id).sort()).toEqual(ids.sort());
  for (const listed of disputes) {
    expect(listed).toEqual((await refunds.getDispute({ ...tenant, disputeId: listed.id })).dispute);
  }
});
