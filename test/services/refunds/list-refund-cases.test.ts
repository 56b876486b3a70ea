import { Code } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { RefundCaseOrder } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { newTenant } from '../../support/harness.ts';
import { describeList, describePlans, sharedListHarness } from '../../support/list-suite.ts';
import { undecidedCaseList } from './queues/undecided-case-list.ts';
import { refundsOf } from './refund-case-fixture.ts';
import { refundCaseList } from './refund-case-list.ts';

const { harness, statements } = sharedListHarness('refunds,funds');

describe('ListRefundCases', () => {
  describeList('pages', () => refundCaseList(harness()));
});

describeList('ListRefundCases by the deadline', () => undecidedCaseList(harness()));

it('accepts only tokens of the same order', async () => {
  const fixture = await undecidedCaseList(harness()).fixtureOf(newTenant());
  for (let n = 0; n < 3; n += 1) await fixture.insert(n);
  const { refunds, tenant } = refundsOf(harness(), 'inProcess', fixture.tenant);
  const order = RefundCaseOrder.REVIEW_DEADLINE;
  const byDeadline = await refunds.listRefundCases({ ...tenant, order, pageSize: 1 });
  const newest = await refunds.listRefundCases({ ...tenant, pageSize: 1 });
  for (const request of [
    { ...tenant, pageToken: byDeadline.nextPageToken },
    { ...tenant, order, pageToken: newest.nextPageToken },
  ]) {
    await expectRefusal(refunds.listRefundCases(request), Code.InvalidArgument, 'INVALID_PAGE_TOKEN');
  }
});

it('returns each case like GetRefundCase', async () => {
  const subject = refundCaseList(harness());
  const fixture = await subject.fixtureOf(newTenant());
  for (let n = 0; n < 12; n += 1) await fixture.insert(n % 5);
  const { refunds, tenant } = refundsOf(harness(), 'grpc', fixture.tenant);
  const { refundCases } = await refunds.listRefundCases(tenant);
  expect(refundCases).toHaveLength(12);
  for (const listed of refundCases) {
    const { refundCase } = await refunds.getRefundCase({ ...tenant, refundCaseId: listed.id });
    expect(listed).toEqual(refundCase);
  }
});

describePlans(
  () => refundCaseList(harness()),
  statements,
  [
    ['', 'refund_case_newest'],
    ['status', 'refund_case_status'],
    ['initiator', 'refund_case_initiator'],
    ['initiator status', 'refund_case_initiator_status'],
    ['orderId', 'refund_case_order'],
    ['paymentIntentId', 'refund_case_payment'],
    ['providerRefundId', 'refund_case_provider_refund'],
    ['blockedOnly', 'refund_case_queue_merchant'],
  ],
  'refunds.refund_case',
);

describePlans(() => undecidedCaseList(harness()), statements, [['', 'refund_case_deadline']]);
