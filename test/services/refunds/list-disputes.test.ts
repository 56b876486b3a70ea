import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DisputeOutcome } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { expectRefusal } from '../../support/expect-refusal.ts';
import type { TestHarness } from '../../support/harness.ts';
import { describeList, describePlans, startListHarness } from '../../support/list-suite.ts';
import { awaitingDisputeList } from './awaiting-dispute-list.ts';
import { disputeList } from './dispute-list.ts';
import { refundsOf } from './refund-case-fixture.ts';

let harness: TestHarness;
const statements: string[] = [];
beforeAll(async () => {
  harness = await startListHarness('refunds,funds', statements);
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

it('lists the disputes of sales, newest first', async () => {
  const { refunds, tenant, write } = refundsOf(harness);
  const [saleId, otherSaleId] = [randomUUID(), randomUUID()];
  const open = async (named: string | undefined, hoursAgo: number) => {
    const occurredAt = timestampFromMs(Date.now() - hoursAgo * 3_600_000);
    const opening = { disputeId: randomUUID(), paymentIntentId: randomUUID(), saleId: named, occurredAt };
    return (await refunds.openDispute({ ...write(), ...opening })).dispute!.id;
  };
  const first = await open(saleId, 3);
  const second = await open(saleId, 2);
  await open(undefined, 1);
  const other = await open(otherSaleId, 1);
  const list = async (saleIds: string[], page: object = {}) =>
    refunds.listDisputes({ ...tenant, saleIds, ...page });
  const ids = async (saleIds: string[]) => (await list(saleIds)).disputes.map(({ id }) => id);
  expect(await ids([saleId.toUpperCase()])).toEqual([second, first]);
  expect(await ids([saleId, otherSaleId])).toEqual([other, second, first]);
  expect(await ids([randomUUID()])).toEqual([]);
  const { nextPageToken: pageToken } = await list([saleId], { pageSize: 1 });
  expect((await list([saleId], { pageToken })).disputes.map(({ id }) => id)).toEqual([first]);
  await expectRefusal(list([otherSaleId], { pageToken }), Code.InvalidArgument, 'INVALID_PAGE_TOKEN');
});

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
